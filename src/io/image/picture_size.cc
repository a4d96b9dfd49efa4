#include <fmt/format.h>

#include "src/base/text.h"
#include "src/io/image/picture.h"

namespace millrace {

Outcome<void> check_picture_size(std::uint64_t width, std::uint64_t height, const DecodeOptions& options,
                                 const std::string& path) {
  if (width == 0 || height == 0) return Error{ErrorCode::bad_data, "its width or height is 0", path, ""};
  if (width > kMaxPictureSide || height > kMaxPictureSide) {
    return Error{ErrorCode::too_large,
                 fmt::format("too large ({} x {} pixels; the limit for a side is {})", width, height,
                             group_digits(kMaxPictureSide)),
                 path, ""};
  }
  if (width * height > options.max_pixels) {
    return Error{ErrorCode::too_large,
                 fmt::format("too large ({} x {} pixels; the limit is {} pixels)", width, height,
                             group_digits(options.max_pixels)),
                 path, "raise --max-pixels if the file is really that large"};
  }
  return {};
}

}  // namespace millrace
