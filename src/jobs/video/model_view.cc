#include "src/jobs/video/model_view.h"

#include <algorithm>

#include "src/kernels/matte/matte.h"

namespace millrace::video {
namespace {

constexpr int kQuarter = 90, kHalf = 180;

// `from`, which is width x height, turned to the right.
template <typename T, typename U>
void turn(const T* from, std::size_t stride, std::int32_t width, std::int32_t height, int degrees, U* to) {
  const auto at = [&](std::int32_t x, std::int32_t y) { return from[static_cast<std::size_t>(y) * stride + static_cast<std::size_t>(x)]; };
  const bool lies = degrees == kQuarter || degrees == kHalf + kQuarter;
  const std::int32_t to_width = lies ? height : width, to_height = lies ? width : height;
  for (std::int32_t y = 0; y < to_height; ++y) {
    for (std::int32_t x = 0; x < to_width; ++x) {
      *to++ = degrees == 0          ? at(x, y)
              : degrees == kQuarter ? at(y, height - 1 - x)
              : degrees == kHalf    ? at(width - 1 - x, height - 1 - y)
                                    : at(width - 1 - y, x);
    }
  }
}

}  // namespace

ModelView::ModelView(const film::Shape& shape, int rotation, const model::PictureModel& model)
    : model_(model),
      rotation_(std::max(rotation, 0)),
      width_(static_cast<std::int32_t>(rotation_ % kHalf == 0 ? model.width : model.height)),
      height_(static_cast<std::int32_t>(rotation_ % kHalf == 0 ? model.height : model.width)),
      linear_(film::is_hdr(shape.colors)) {
  using film::Converter;
  seen_.width = width_;
  seen_.height = height_;
  seen_.kind = film::Kind::rgb;
  // The film's own primaries and transfer: what a photograph's are is not known either.
  seen_.colors = shape.colors;
  seen_.colors.matrix = 0;
  seen_.colors.range = film::Range::full;
  if (linear_) {
    converter_.emplace(Converter::to_linear(shape, width_, height_, Converter::Filter::bilinear));
  } else {
    converter_.emplace(shape, seen_, Converter::Filter::bilinear);
  }
}

void ModelView::input(const std::uint8_t* picture, float* input, Workspace& workspace) const {
  const film::Layout layout = linear_ ? film::linear_layout(width_, height_) : film::layout_of(seen_);
  const std::size_t pixels = static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_);
  workspace.planes.resize(layout.bytes);
  workspace.upright.resize(3 * pixels);
  converter_->convert(picture, workspace.planes.data(), workspace.converting);
  for (std::size_t p = 0; p < 3; ++p) {
    std::uint8_t* plane = workspace.upright.data() + p * pixels;
    const std::uint8_t* from = workspace.planes.data() + layout.offset[p];
    if (!linear_) {
      turn(from, layout.stride[p], width_, height_, rotation_, plane);
      continue;
    }
    // In place: a byte takes the room of a number that was read before.
    const auto* values = reinterpret_cast<const float*>(from);
    const std::size_t stride = layout.stride[p] / sizeof(float);
    auto* bytes = workspace.planes.data() + layout.offset[p];
    for (std::int32_t y = 0; y < height_; ++y)
      for (std::int32_t x = 0; x < width_; ++x)
        bytes[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x)] =
            film::seen(values[static_cast<std::size_t>(y) * stride + static_cast<std::size_t>(x)]);
    turn(bytes, static_cast<std::size_t>(width_), width_, height_, rotation_, plane);
  }
  for (std::size_t c = 0; c < model_.order.size(); ++c) {
    const std::uint8_t* plane = workspace.upright.data() + model_.order[c] * pixels;
    const auto& level = model_.levels[c].of;
    float* to = input + c * pixels;
    if (model_.input == model::ChannelOrder::gray) {
      // As Pillow makes gray of colours.
      const std::uint8_t* red = workspace.upright.data();
      for (std::size_t i = 0; i < pixels; ++i) {
        const unsigned gray = (19595U * red[i] + 38470U * red[pixels + i] + 7471U * red[2 * pixels + i] + 32768U) >> 16;
        to[i] = level[gray];
      }
    } else {
      for (std::size_t i = 0; i < pixels; ++i) to[i] = level[plane[i]];
    }
  }
}

void ModelView::mask(std::span<float> output, std::uint16_t* mask) const {
  const std::size_t channels = model_.classes.size(), pixels = output.size() / channels;
  if (model_.activation == model::Activation::sigmoid) window::sigmoid(output);
  if (model_.activation == model::Activation::softmax) window::softmax(output, channels);
  // What is looked for, in the place of the first channel.
  float* front = output.data();
  if (channels > 1) {
    const bool exclusive = !model_.has_none();
    std::size_t first = exclusive ? 1 : 0;
    const auto is_wanted = [&](std::size_t c) { return model_.classes[c].drawn; };
    for (std::size_t i = 0; i < pixels; ++i) {
      float sum = 0;
      for (std::size_t c = first; c < channels; ++c) {
        if (!is_wanted(c)) continue;
        const float p = output[c * pixels + i];
        sum = exclusive ? sum + p : std::max(sum, p);
      }
      front[i] = sum;
    }
  }
  std::vector<std::uint16_t> upright(pixels);
  matte::from_probabilities(front, upright.data(), pixels);
  turn(upright.data(), static_cast<std::size_t>(model_.width), static_cast<std::int32_t>(model_.width),
       static_cast<std::int32_t>(model_.height), (360 - rotation_) % 360, mask);
}

}  // namespace millrace::video
