#include "src/jobs/video/views.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "src/kernels/masks/masks.h"

namespace millrace::video {
namespace {

video_file::FrameRegion whole_frame_region(const video_file::FrameShape& shape) {
  return {0, 0, static_cast<double>(shape.width), static_cast<double>(shape.height)};
}

std::int32_t rounded(double value) { return static_cast<std::int32_t>(std::lround(value)); }

}  // namespace

Views::Views(const VideoOptions& options, const video_file::FrameShape& shape, int rotation,
             const model::PictureModel& model)
    : stereo_(options.stereo), stereo_merge_(options.stereo_merge) {
  const bool lies = rotation == 90 || rotation == 270;
  const double own_width = static_cast<double>(lies ? model.height : model.width);
  const double own_height = static_cast<double>(lies ? model.width : model.height);
  // The mask is as fine as the finest view, but not finer than the frame.
  double finest = 0;
  struct Part {
    video_file::FrameRegion region;
    double resolution;
    std::size_t group;
  };
  std::vector<Part> parts;
  const auto add_view = [&](const video_file::FrameRegion& region, double resolution, std::size_t group) {
    parts.push_back({region, resolution, group});
    finest = std::max({finest, own_width / region.width, own_height / region.height});
  };
  const video_file::FrameRegion whole = whole_frame_region(shape);
  if (stereo_ != Stereo::none) {
    const bool beside = stereo_ != Stereo::over_under;
    video_file::FrameRegion eye = whole;
    (beside ? eye.width : eye.height) /= 2;
    if (stereo_ != Stereo::right) add_view(eye, 1, 0);
    (beside ? eye.left : eye.top) = beside ? eye.width : eye.height;
    if (stereo_ != Stereo::left) add_view(eye, 1, 0);
  } else if (!options.regions.empty()) {
    for (const video_file::FrameRegion& region : options.regions) add_view(region, 1, 0);
  } else {
    for (const double scale : options.scales) {
      const std::size_t group = groups_ - 1;
      const int tiles = static_cast<int>(std::ceil(scale));
      for (int row = 0; row < tiles; ++row) {
        for (int column = 0; column < tiles; ++column) {
          video_file::FrameRegion tile = whole;
          if (scale > 1) {
            tile.width /= scale;
            tile.height /= scale;
            tile.left = (whole.width - tile.width) * column / (tiles - 1);
            tile.top = (whole.height - tile.height) * row / (tiles - 1);
          }
          add_view(tile, std::min(scale, 1.0), group);
        }
      }
      if (&scale != &options.scales.back()) ++groups_;
    }
  }
  finest = std::min(finest, 1.0);
  width_ = std::max(rounded(shape.width * finest), 1);
  height_ = std::max(rounded(shape.height * finest), 1);
  // A single view of the whole frame gives the mask itself.
  if (parts.size() == 1 && parts[0].region == whole) {
    width_ = static_cast<std::int32_t>(own_width);
    height_ = static_cast<std::int32_t>(own_height);
  }
  for (const Part& part : parts) add(part.region, part.resolution, part.group, shape, rotation, model);
}

Views::Views(const video_file::FrameRegion& region, const video_file::FrameShape& shape, int rotation,
             const model::PictureModel& model, std::int32_t mask_width, std::int32_t mask_height)
    : width_(mask_width), height_(mask_height) {
  add(region, 1, 0, shape, rotation, model);
}

void Views::add(const video_file::FrameRegion& region, double resolution, std::size_t group,
                const video_file::FrameShape& shape, int rotation, const model::PictureModel& model) {
  const double x = static_cast<double>(width_) / shape.width, y = static_cast<double>(height_) / shape.height;
  const std::int32_t left = rounded(region.left * x), top = rounded(region.top * y);
  views_.push_back({ModelView(shape, region == whole_frame_region(shape) ? video_file::FrameRegion{} : region, rotation,
                              resolution, model),
                    group, left, top, std::max(rounded((region.left + region.width) * x) - left, 1),
                    std::max(rounded((region.top + region.height) * y) - top, 1)});
}

void Views::mask(std::span<float> outputs, std::uint16_t* mask, Workspace& workspace) const {
  const std::size_t elements = outputs.size() / views_.size();
  const auto& first = views_.front();
  if (views_.size() == 1 && first.view.mask_width() == width_ && first.view.mask_height() == height_ &&
      first.width == width_ && first.height == height_)
    return first.view.mask(outputs, mask, workspace.view);
  const std::size_t pixels = static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_);
  workspace.all.assign(pixels, 0);
  workspace.groups.assign(pixels, 0);
  for (std::size_t group = 0, k = 0; group < groups_; ++group) {
    workspace.sums.assign(pixels, 0);
    workspace.weights.assign(pixels, 0);
    for (; k < views_.size() && views_[k].group == group; ++k) {
      const View& view = views_[k];
      workspace.part.resize(static_cast<std::size_t>(view.view.mask_width()) *
                            static_cast<std::size_t>(view.view.mask_height()));
      view.view.mask(outputs.subspan(k * elements, elements), workspace.part.data(), workspace.view);
      masks::Enlarger enlarger(view.view.mask_width(), view.view.mask_height(), view.width, view.height);
      enlarger.begin(workspace.part.data());
      workspace.row.resize(static_cast<std::size_t>(view.width));
      for (std::int32_t y = 0; y < view.height && view.top + y < height_; ++y) {
        enlarger.row(y, workspace.row.data());
        const std::size_t at = static_cast<std::size_t>(view.top + y) * static_cast<std::size_t>(width_) +
                               static_cast<std::size_t>(view.left);
        const auto count = static_cast<std::size_t>(std::min(view.width, width_ - view.left));
        for (std::size_t x = 0; x < count; ++x) {
          workspace.sums[at + x] += workspace.row[x];
          ++workspace.weights[at + x];
        }
      }
    }
    for (std::size_t i = 0; i < pixels; ++i) {
      const std::uint32_t weight = workspace.weights[i];
      if (weight == 0) continue;
      workspace.all[i] += (workspace.sums[i] + weight / 2) / weight;
      ++workspace.groups[i];
    }
  }
  for (std::size_t i = 0; i < pixels; ++i) {
    const std::uint32_t groups = workspace.groups[i];
    mask[i] = static_cast<std::uint16_t>(groups == 0 ? 0 : (workspace.all[i] + groups / 2) / groups);
  }
  if (stereo_ == Stereo::side_by_side || stereo_ == Stereo::over_under) merge_stereo(mask);
}

// Aligns the masks of both eyes and combines them. One eye sees an object further left or right than the other. The
// shift is chosen by which the column sums of both masks match best.
void Views::merge_stereo(std::uint16_t* mask) const {
  const bool beside = stereo_ == Stereo::side_by_side;
  const std::int32_t width = beside ? width_ / 2 : width_, height = beside ? height_ : height_ / 2;
  const auto stride = static_cast<std::size_t>(width_);
  std::uint16_t* const left = mask;
  std::uint16_t* const right =
      beside ? mask + (width_ - width) : mask + static_cast<std::size_t>(height_ - height) * stride;
  std::vector<std::int64_t> columns_left(static_cast<std::size_t>(width)), columns_right(columns_left.size());
  for (std::int32_t y = 0; y < height; ++y) {
    for (std::int32_t x = 0; x < width; ++x) {
      const std::size_t at = static_cast<std::size_t>(y) * stride + static_cast<std::size_t>(x);
      columns_left[static_cast<std::size_t>(x)] += left[at];
      columns_right[static_cast<std::size_t>(x)] += right[at];
    }
  }
  std::int32_t best = 0;
  std::int64_t least = -1;
  // The smallest of equally good shifts is chosen. Shifts are at most an eighth of an eye's width.
  for (std::int32_t step = 0; step <= width / 8; ++step) {
    for (const std::int32_t shift : {step, -step}) {
      std::int64_t differ = 0;
      for (std::int32_t x = 0; x < width; ++x) {
        const std::int32_t other = x + shift;
        const std::int64_t there = other >= 0 && other < width ? columns_right[static_cast<std::size_t>(other)] : 0;
        differ += std::abs(columns_left[static_cast<std::size_t>(x)] - there);
      }
      if (least < 0 || differ < least) {
        least = differ;
        best = shift;
      }
    }
  }
  for (std::int32_t y = 0; y < height; ++y) {
    for (std::int32_t x = std::max(0, -best); x < std::min(width, width - best); ++x) {
      std::uint16_t& a = left[static_cast<std::size_t>(y) * stride + static_cast<std::size_t>(x)];
      std::uint16_t& b = right[static_cast<std::size_t>(y) * stride + static_cast<std::size_t>(x + best)];
      std::uint32_t both = 0;
      switch (stereo_merge_) {
        case StereoMerge::average:
          both = (std::uint32_t{a} + b + 1) / 2;
          break;
        case StereoMerge::weighted: {
          // Weights each value by its distance from one half, where the network is undecided.
          const auto sure = [](std::uint32_t p) {
            return 1 + (p > masks::kOne / 2 ? p - masks::kOne / 2 : masks::kOne / 2 - p);
          };
          const std::uint64_t wa = sure(a), wb = sure(b);
          both = static_cast<std::uint32_t>((wa * a + wb * b + (wa + wb) / 2) / (wa + wb));
          break;
        }
        case StereoMerge::cross_check:
          both = std::min(a, b);
          break;
      }
      a = b = static_cast<std::uint16_t>(both);
    }
  }
}

video_file::FrameRegion find_mask_region(const std::uint16_t* mask, std::int32_t width, std::int32_t height,
                                         std::uint16_t threshold, const video_file::FrameShape& shape,
                                         std::int32_t own_width, std::int32_t own_height) {
  std::int32_t left = width, right = -1, top = height, bottom = -1;
  for (std::int32_t y = 0; y < height; ++y) {
    for (std::int32_t x = 0; x < width; ++x) {
      if (mask[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)] < threshold)
        continue;
      left = std::min(left, x), right = std::max(right, x);
      top = std::min(top, y), bottom = std::max(bottom, y);
    }
  }
  if (right < 0) return {};
  constexpr double kRoom = 0.15, kStep = 16;
  const auto side = [&](double from, double to, double scale, double least, double most, double& begin) {
    double length = (to - from) * scale;
    const double middle = (from + to) / 2 * scale;
    length = std::min(most, std::max(length * (1 + 2 * kRoom), std::min(least, most)));
    length = std::min(most, std::ceil(length / kStep) * kStep);
    begin = std::clamp(std::floor((middle - length / 2) / kStep) * kStep, 0.0, most - length);
    return length;
  };
  video_file::FrameRegion out;
  out.width = side(left, right + 1, static_cast<double>(shape.width) / width, own_width, shape.width, out.left);
  out.height = side(top, bottom + 1, static_cast<double>(shape.height) / height, own_height, shape.height, out.top);
  return out;
}

}  // namespace millrace::video
