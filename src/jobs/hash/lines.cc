#include "src/jobs/hash/lines.h"

#include <fmt/format.h>

#include "src/base/json.h"
#include "src/base/text.h"
#include "src/report/json_path.h"

namespace millrace::hash {
namespace {

// Returns width and height of the image as it was hashed.
std::pair<int, int> sides_of(const Fingerprint& print) {
  const bool swapped = print.turned && swaps_sides(print.info.exif.orientation);
  return swapped ? std::pair(print.info.full_height, print.info.full_width)
                 : std::pair(print.info.full_width, print.info.full_height);
}

std::string jsonl_line(const Options& options, const Hashed& hashed) {
  Json line;
  add_path(line, hashed.path);
  if (!hashed.outcome) {
    const Error& error = hashed.outcome.error();
    line["error"] = error.what + (error.remedy.empty() ? "" : "; " + error.remedy);
    return line.dump() + "\n";
  }
  const Fingerprint& print = *hashed.outcome;
  const auto [width, height] = sides_of(print);
  line["width"] = width;
  line["height"] = height;
  line["bytes"] = hashed.bytes;
  line["quality"] = print.hashes.quality;
  line["exact"] = print.info.exact && options.orientation == Pixels::stored;
  if (options.decode != Decoding::exact) line["decode"] = choice_name(options.decode);
  if (print.damaged) line["damaged"] = print.damage;
  for (std::size_t i = 0; i < options.request.kinds.size(); ++i) {
    line[name_of(options.request.kinds[i])] = hex_of_bits(print.hashes.bits[i]);
  }
  return line.dump() + "\n";
}

std::string csv_header(const Options& options) {
  std::string line = "path,width,height,bytes,quality,exact";
  for (const HashKind kind : options.request.kinds) line += std::string(",") + name_of(kind);
  return line + ",error";
}

std::string csv_line(const Options& options, const Hashed& hashed) {
  std::string line = csv_field(utf8_for_display(hashed.path));
  if (!hashed.outcome) {
    return line + ",,,,," + std::string(options.request.kinds.size() + 1, ',') +
           csv_field(hashed.outcome.error().what) + "\n";
  }
  const Fingerprint& print = *hashed.outcome;
  const auto [width, height] = sides_of(print);
  line += fmt::format(",{},{},{},{},{}", width, height, hashed.bytes, print.hashes.quality,
                      print.info.exact && options.orientation == Pixels::stored);
  for (const HashBits& bits : print.hashes.bits) line += "," + hex_of_bits(bits);
  return line + ",\n";
}

std::string table_line(const Options&, const Hashed& hashed) {
  if (!hashed.outcome) return fmt::format("-  {}: {}\n", printable(hashed.path), hashed.outcome.error().what);
  std::string line;
  for (const HashBits& bits : hashed.outcome->hashes.bits) line += hex_of_bits(bits) + "  ";
  return line + printable(hashed.path) + (hashed.outcome->damaged ? "  (damaged)" : "") + "\n";
}

}  // namespace

std::string header_of(const Options& options) { return options.format == Lines::csv ? csv_header(options) : ""; }

std::string line_of(const Options& options, const Hashed& hashed) {
  switch (options.format) {
    case Lines::jsonl:
      return jsonl_line(options, hashed);
    case Lines::csv:
      return csv_line(options, hashed);
    case Lines::table:
      break;
  }
  return table_line(options, hashed);
}

}  // namespace millrace::hash
