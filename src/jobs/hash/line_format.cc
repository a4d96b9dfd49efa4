#include "src/jobs/hash/line_format.h"

#include <fmt/format.h>

#include "src/base/json.h"
#include "src/base/text.h"
#include "src/report/json_path.h"

namespace millrace::hash {
namespace {

// Returns width and height of the image as it was hashed.
std::pair<int, int> sides_of(const PictureFingerprint& print) {
  const bool swapped = print.turned && swaps_sides(print.info.exif.orientation);
  return swapped ? std::pair(print.info.full_height, print.info.full_width)
                 : std::pair(print.info.full_width, print.info.full_height);
}

std::string format_jsonl_line(const HashJobOptions& options, const HashedFile& hashed) {
  Json line;
  add_path(line, hashed.path);
  if (!hashed.outcome) {
    const Error& error = hashed.outcome.error();
    line["error"] = error.what + (error.remedy.empty() ? "" : "; " + error.remedy);
    return line.dump() + "\n";
  }
  const PictureFingerprint& print = *hashed.outcome;
  const auto [width, height] = sides_of(print);
  line["width"] = width;
  line["height"] = height;
  line["bytes"] = hashed.bytes;
  line["quality"] = print.hashes.quality;
  line["exact"] = print.info.exact && options.orientation == PixelOrientation::stored;
  if (options.decode != Decoding::exact) line["decode"] = choice_name(options.decode);
  if (print.damaged) line["damaged"] = print.damage;
  for (std::size_t i = 0; i < options.request.kinds.size(); ++i) {
    line[name_of(options.request.kinds[i])] = hex_of_bits(print.hashes.bits[i]);
  }
  return line.dump() + "\n";
}

std::string format_csv_header(const HashJobOptions& options) {
  std::string line = "path,width,height,bytes,quality,exact";
  for (const HashKind kind : options.request.kinds) line += std::string(",") + name_of(kind);
  return line + ",error";
}

std::string format_csv_line(const HashJobOptions& options, const HashedFile& hashed) {
  std::string line = quote_csv_field(replace_invalid_utf8(hashed.path));
  if (!hashed.outcome) {
    return line + ",,,,," + std::string(options.request.kinds.size() + 1, ',') +
           quote_csv_field(hashed.outcome.error().what) + "\n";
  }
  const PictureFingerprint& print = *hashed.outcome;
  const auto [width, height] = sides_of(print);
  line += fmt::format(",{},{},{},{},{}", width, height, hashed.bytes, print.hashes.quality,
                      print.info.exact && options.orientation == PixelOrientation::stored);
  for (const HashBits& bits : print.hashes.bits) line += "," + hex_of_bits(bits);
  return line + ",\n";
}

std::string format_table_line(const HashJobOptions&, const HashedFile& hashed) {
  if (!hashed.outcome) return fmt::format("-  {}: {}\n", escape_unprintable(hashed.path), hashed.outcome.error().what);
  std::string line;
  for (const HashBits& bits : hashed.outcome->hashes.bits) line += hex_of_bits(bits) + "  ";
  return line + escape_unprintable(hashed.path) + (hashed.outcome->damaged ? "  (damaged)" : "") + "\n";
}

}  // namespace

std::string format_header(const HashJobOptions& options) {
  return options.format == LineFormat::csv ? format_csv_header(options) : "";
}

std::string format_line(const HashJobOptions& options, const HashedFile& hashed) {
  switch (options.format) {
    case LineFormat::jsonl:
      return format_jsonl_line(options, hashed);
    case LineFormat::csv:
      return format_csv_line(options, hashed);
    case LineFormat::table:
      break;
  }
  return format_table_line(options, hashed);
}

}  // namespace millrace::hash
