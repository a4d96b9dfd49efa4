#include "src/jobs/callers_image.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/error.h"

namespace millrace {

void check_image(const ArrayView& image) {
  constexpr std::int64_t kMostSide = 65'535;
  const auto& shape = image.shape;
  bool fits = image.type == kUint8 && image.memory != MemoryKind::device && image.data != nullptr &&
              (shape.size() == 2 || (shape.size() == 3 && (shape[2] == 1 || shape[2] == 3))) &&
              (image.strides.empty() || image.strides.size() == shape.size());
  for (std::size_t i = 0; fits && i < 2; ++i) fits = shape[i] >= 1 && shape[i] <= kMostSide;
  if (fits) return;
  throw Failure(
      ErrorCode::usage,
      "an image is uint8 [height, width] or [height, width, 1], gray, or [height, width, 3], RGB, in host memory, "
      "with sides from 1 to 65,535",
      fmt::format("{} [{}]", name_of(image.type), fmt::join(shape, ", ")), "");
}

CallersImage::CallersImage(const ArrayView& image)
    : width_(static_cast<int>(image.shape[1])),
      height_(static_cast<int>(image.shape[0])),
      channels_(image.shape.size() == 3 ? static_cast<int>(image.shape[2]) : 1),
      data_(static_cast<const std::uint8_t*>(image.data)) {
  const std::ptrdiff_t own = std::ptrdiff_t{channels_} * width_;
  const std::ptrdiff_t row = image.strides.empty() ? own : image.strides[0];
  const std::ptrdiff_t column = image.strides.empty() ? channels_ : image.strides[1];
  const std::ptrdiff_t channel = image.strides.size() == 3 && channels_ > 1 ? image.strides[2] : 1;
  stride_ = row;
  if ((column == channels_ || width_ == 1) && channel == 1) return;
  gathered_.resize(static_cast<std::size_t>(own) * static_cast<std::size_t>(height_));
  std::uint8_t* to = gathered_.data();
  for (std::ptrdiff_t y = 0; y < height_; ++y) {
    for (std::ptrdiff_t x = 0; x < width_; ++x) {
      for (std::ptrdiff_t c = 0; c < channels_; ++c) *to++ = data_[y * row + x * column + c * channel];
    }
  }
  data_ = gathered_.data();
  stride_ = own;
}

}  // namespace millrace
