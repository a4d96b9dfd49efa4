#include <fmt/format.h>

#include "src/base/text.h"
#include "src/io/image/picture.h"

namespace millrace {

Outcome<void> check_sides(std::uint64_t width, std::uint64_t height, const DecodeOptions& options,
                          const std::string& path) {
  if (width == 0 || height == 0) return Error{ErrorCode::bad_data, "the picture has no pixels", path, ""};
  if (width > kLongestSide || height > kLongestSide) {
    return Error{ErrorCode::too_large,
                 fmt::format("{} x {} pixels: a side is over the limit of {}", width, height, grouped(kLongestSide)),
                 path, ""};
  }
  if (width * height > options.most_pixels) {
    return Error{ErrorCode::too_large,
                 fmt::format("{} x {} pixels are over the limit of {}", width, height, grouped(options.most_pixels)),
                 path, "raise --max-pixels if the file is meant to be that large"};
  }
  return {};
}

}  // namespace millrace
