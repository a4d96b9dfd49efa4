#include <fmt/format.h>

#include "src/base/text.h"
#include "src/io/image/picture.h"

namespace millrace {

Outcome<void> check_picture_size(std::uint64_t width, std::uint64_t height, const DecodeOptions& options,
                                 const std::string& path) {
  if (width == 0 || height == 0) return Error{ErrorCode::bad_data, "the picture has no pixels", path, ""};
  if (width > kMaxPictureSide || height > kMaxPictureSide) {
    return Error{
        ErrorCode::too_large,
        fmt::format("{} x {} pixels: a side is over the limit of {}", width, height, group_digits(kMaxPictureSide)),
        path, ""};
  }
  if (width * height > options.max_pixels) {
    return Error{
        ErrorCode::too_large,
        fmt::format("{} x {} pixels are over the limit of {}", width, height, group_digits(options.max_pixels)), path,
        "raise --max-pixels if the file is meant to be that large"};
  }
  return {};
}

}  // namespace millrace
