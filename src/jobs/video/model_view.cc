#include "src/jobs/video/model_view.h"

#include <algorithm>
#include <cmath>

#include "src/kernels/luma/luma_math.h"
#include "src/kernels/masks/masks.h"

namespace millrace::video {
namespace {

constexpr int kQuarter = 90, kHalf = 180;

// Rotates `from`, which is width x height, clockwise.
template <typename T>
void rotate_plane(const T* from, std::size_t stride, std::int32_t width, std::int32_t height, int degrees, T* to) {
  const auto at = [&](std::int32_t x, std::int32_t y) {
    return from[static_cast<std::size_t>(y) * stride + static_cast<std::size_t>(x)];
  };
  const bool lies = degrees % kHalf != 0;
  const std::int32_t to_width = lies ? height : width, to_height = lies ? width : height;
  if (degrees == 0) {
    for (std::int32_t y = 0; y < height; ++y, to += width)
      std::copy_n(from + static_cast<std::size_t>(y) * stride, width, to);
    return;
  }
  for (std::int32_t y = 0; y < to_height; ++y) {
    for (std::int32_t x = 0; x < to_width; ++x) {
      *to++ = degrees == kQuarter ? at(y, height - 1 - x)
              : degrees == kHalf  ? at(width - 1 - x, height - 1 - y)
                                  : at(width - 1 - y, x);
    }
  }
}

std::int32_t share_of(std::int32_t side, double share) {
  return share < 1 ? std::max(static_cast<std::int32_t>(std::lround(side * share)), 1) : side;
}

}  // namespace

ModelView::ModelView(const video_file::FrameShape& shape, const video_file::FrameRegion& region, int rotation,
                     double resolution, const model::PictureModel& model)
    : model_(&model),
      rotation_(std::max(rotation, 0)),
      width_(static_cast<std::int32_t>(rotation_ % kHalf == 0 ? model.width : model.height)),
      height_(static_cast<std::int32_t>(rotation_ % kHalf == 0 ? model.height : model.width)),
      coarse_(shape, region, share_of(width_, resolution), share_of(height_, resolution)) {
  seen_ = coarse_.shape();
  seen_.width = width_;
  seen_.height = height_;
  if (coarse_.shape() != seen_) enlarged_.emplace(coarse_.shape(), seen_, video_file::Converter::Filter::bilinear);
}

void ModelView::planes_of(const std::uint8_t* picture, Workspace& workspace) const {
  Buffer<std::uint8_t>& first = enlarged_ ? workspace.coarse : workspace.planes;
  first.resize(video_file::layout_of(coarse_.shape()).bytes);
  coarse_.planes(picture, first.data(), workspace.converting);
  if (!enlarged_) return;
  workspace.planes.resize(video_file::layout_of(seen_).bytes);
  enlarged_->convert(first.data(), workspace.planes.data(), workspace.converting.converting);
}

void ModelView::input(const std::uint8_t* picture, float* input, std::uint8_t* seen, Workspace& workspace) const {
  planes_of(picture, workspace);
  const video_file::FrameLayout layout = video_file::layout_of(seen_);
  const std::size_t pixels = static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_);
  workspace.upright.resize(3 * pixels);
  for (std::size_t p = 0; p < 3; ++p)
    rotate_plane(static_cast<const std::uint8_t*>(workspace.planes.data()) + layout.offset[p], layout.stride[p], width_,
                 height_, rotation_, workspace.upright.data() + p * pixels);
  const std::uint8_t* red = workspace.upright.data();
  if (seen != nullptr) std::copy_n(red, 3 * pixels, seen);
  for (std::size_t c = 0; c < model_->order.size(); ++c) {
    const std::uint8_t* plane = red + model_->order[c] * pixels;
    const auto& level = model_->levels[c].of;
    float* to = input + c * pixels;
    if (model_->input == model::ChannelOrder::gray) {
      for (std::size_t i = 0; i < pixels; ++i) to[i] = level[luma_of(red[i], red[pixels + i], red[2 * pixels + i])];
    } else {
      for (std::size_t i = 0; i < pixels; ++i) to[i] = level[plane[i]];
    }
  }
}

void ModelView::mask(std::span<float> output, std::uint16_t* mask, Workspace& workspace) const {
  const model::Head& head = model_->heads.front();
  const std::size_t channels = head.classes.size(), pixels = output.size() / channels;
  if (head.activation == model::Activation::sigmoid) window::sigmoid(output);
  if (head.activation == model::Activation::softmax) window::softmax(output, channels);
  // The first channel gets the probability of the classes that the network looks for.
  float* front = output.data();
  if (channels > 1) {
    const bool exclusive = !head.has_background();
    for (std::size_t i = 0; i < pixels; ++i) {
      float sum = 0;
      for (std::size_t c = exclusive ? 1 : 0; c < channels; ++c) {
        if (!head.classes[c].drawn) continue;
        const float p = output[c * pixels + i];
        sum = exclusive ? sum + p : std::max(sum, p);
      }
      front[i] = sum;
    }
  }
  workspace.mask.resize(pixels);
  masks::from_probabilities(front, workspace.mask.data(), pixels);
  rotate_plane(static_cast<const std::uint16_t*>(workspace.mask.data()), static_cast<std::size_t>(model_->width),
               static_cast<std::int32_t>(model_->width), static_cast<std::int32_t>(model_->height),
               (4 * kQuarter - rotation_) % (4 * kQuarter), mask);
}

}  // namespace millrace::video
