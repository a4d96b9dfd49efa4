#include "src/jobs/callers_image.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/error.h"

namespace millrace {

void check_image(const ArrayView& image, const std::string& name) {
  constexpr std::int64_t kMaxSide = 65'535;
  const auto& shape = image.shape;
  bool fits = image.type == kUint8 && image.memory != MemoryKind::device && image.data != nullptr &&
              (shape.size() == 2 || (shape.size() == 3 && (shape[2] == 1 || shape[2] == 3))) &&
              (image.strides.empty() || image.strides.size() == shape.size());
  for (std::size_t i = 0; fits && i < 2; ++i) fits = shape[i] >= 1 && shape[i] <= kMaxSide;
  if (fits) return;
  throw Failure(
      ErrorCode::usage,
      fmt::format(
          "found {} [{}]; expected uint8 [height, width] or [height, width, 1] (gray) or [height, width, 3] (RGB), "
          "in host memory, with sides from 1 to 65,535",
          name_of(image.type), fmt::join(shape, ", ")),
      name, "");
}

void check_images(std::span<const ArrayView> images, const std::string& name) {
  for (std::size_t k = 0; k < images.size(); ++k)
    check_image(images[k], images.size() == 1 ? name : fmt::format("{} {}", name, k));
}

namespace {

// Distances between neighbors, in bytes.
struct Steps {
  explicit Steps(const ArrayView& image) {
    if (image.shape.size() == 3) channels = image.shape[2];
    row = image.strides.empty() ? channels * image.shape[1] : image.strides[0];
    column = image.strides.empty() ? channels : image.strides[1];
    if (image.strides.size() == 3 && channels > 1) channel = image.strides[2];
    side_by_side = (column == channels || image.shape[1] == 1) && channel == 1;
  }
  std::ptrdiff_t channels = 1, row = 0, column = 0, channel = 1;
  bool side_by_side = true;
};

}  // namespace

std::uint64_t CallersImage::bytes(const ArrayView& image) {
  return Steps(image).side_by_side ? 0 : static_cast<std::uint64_t>(image.elements());
}

CallersImage::CallersImage(const ArrayView& image)
    : width_(static_cast<int>(image.shape[1])),
      height_(static_cast<int>(image.shape[0])),
      data_(static_cast<const std::uint8_t*>(image.data)) {
  const Steps steps(image);
  channels_ = static_cast<int>(steps.channels);
  stride_ = steps.row;
  if (steps.side_by_side) return;
  const std::ptrdiff_t own = steps.channels * width_;
  gathered_.resize(static_cast<std::size_t>(own) * static_cast<std::size_t>(height_));
  std::uint8_t* to = gathered_.data();
  for (std::ptrdiff_t y = 0; y < height_; ++y) {
    for (std::ptrdiff_t x = 0; x < width_; ++x) {
      for (std::ptrdiff_t c = 0; c < channels_; ++c)
        *to++ = data_[y * steps.row + x * steps.column + c * steps.channel];
    }
  }
  data_ = gathered_.data();
  stride_ = own;
}

}  // namespace millrace
