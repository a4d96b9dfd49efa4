#include <fmt/format.h>

#include "src/base/text.h"
#include "src/io/image/helper_client.h"
#include "src/io/image/picture.h"

namespace millrace {

std::optional<Error> check_sides(std::uint64_t width, std::uint64_t height, const DecodeOptions& options,
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
  return std::nullopt;
}

Outcome<Decoded> decode_picture(FileReader& file, const DecodeOptions& options, RowSink& sink) {
  const auto head = file.peek();
  if (file.failed()) return file.error();
  const std::string subject = printable(file.path());
  if (head.empty()) return Error{ErrorCode::bad_data, "the file is empty", subject, ""};
  const ImageFormat format = sniff_format(head, file.path());
  switch (format) {
    case ImageFormat::jpeg:
      return decode_jpeg(file, options, sink);
    case ImageFormat::png:
      return decode_png(file, options, sink);
    case ImageFormat::unknown:
      return Error{ErrorCode::unsupported, "not a picture in a format that this program reads", subject, ""};
    default:
      return decode_in_helper(file, format, options, sink);
  }
}

}  // namespace millrace
