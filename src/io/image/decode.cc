#include "src/base/text.h"
#include "src/io/image/helper_pool.h"
#include "src/io/image/picture.h"

namespace millrace {

Outcome<DecodeResult> decode_picture(FileReader& file, const DecodeOptions& options, RowSink& sink) {
  const auto head = file.peek();
  if (file.failed()) return file.error();
  const std::string subject = escape_unprintable(file.path());
  if (head.empty()) return Error{ErrorCode::bad_data, "the file is empty", subject, ""};
  const ImageFormat format = sniff_format(head, file.path());
  if (format == ImageFormat::unknown)
    return Error{ErrorCode::unsupported, "not a picture, or its format is not supported", subject, ""};
  if (format == ImageFormat::jpeg && !options.all_in_helpers) return decode_jpeg(file, options, sink);
  if (format == ImageFormat::png && !options.all_in_helpers) return decode_png(file, options, sink);
  if (options.helpers != nullptr) return options.helpers->decode(file, format, options, sink);
  return HelperPool().decode(file, format, options, sink);
}

}  // namespace millrace
