#include "src/jobs/hash/options.h"

#include <fmt/format.h>

#include "src/base/parse_values.h"
#include "src/base/text.h"

namespace millrace::hash {

void describe(Settings& settings, HashJobOptions& options) {
  settings.set_heading("Hashes");
  settings.add_parsed("kinds", "KIND,...",
                      "compute these hashes: ahash, dhash, dhash_vertical, phash, whash, colorhash, pdq", "dhash",
                      [&options](const std::string& text) {
                        options.request.kinds.clear();
                        for (const std::string& part : split(text, ',')) {
                          const auto kind = find_hash_kind(trim(part));
                          if (!kind) {
                            throw Failure(ErrorCode::usage, fmt::format("'{}' is not a hash kind", part), "",
                                          "use ahash, dhash, dhash_vertical, phash, whash, colorhash or pdq");
                          }
                          options.request.kinds.push_back(*kind);
                        }
                      });
  settings.add_parsed("size", "N", "make hashes of N x N bits, N from 2 to 64", "8",
                      [&options](const std::string& text) {
                        options.request.size = static_cast<int>(parse_whole_number(text, 2, 64));
                      });
  settings.add_choice("decode",
                      "decode every pixel, or JPEGs at a reduced scale (faster; hashes may differ by a bit or two)",
                      options.decode);
  settings.add_choice("orientation", "hash the pixels as stored, or rotated upright by EXIF", options.orientation);
  settings.add_choice("format", "write a table, JSON lines or CSV; with -o, table means CSV", options.format);
  settings.set_heading("Output");
  settings.add_text("output", "FOLDER",
                    "write hashes.csv or hashes.jsonl to a folder, resumably; if not given, print to stdout",
                    options.output);
  settings.add_integer("shard", "N", "put this many pictures into one shard", options.shard, 1, 1'000'000);
  describe(settings, options.share);
  settings.set_heading("Files");
  settings.add_text("inventory", "FILE.jsonl", "hash the files that millrace inventory listed, instead of PATH",
                    options.inventory);
  settings.add_switch("all-files", "include files whose extension is not that of a picture", options.all_files);
  describe(settings, options.files);
}

std::vector<std::pair<std::string, std::string>> content_attributes(const HashJobOptions& options) {
  std::string kinds;
  for (const HashKind kind : options.request.kinds) kinds += (kinds.empty() ? "" : ",") + std::string(name_of(kind));
  return {{kMark, "1"},
          {"kinds", kinds},
          {"size", std::to_string(options.request.size)},
          {"decode", choice_name(options.decode)},
          {"orientation", choice_name(options.orientation)},
          {"format", choice_name(options.format)},
          {"max-size", std::to_string(options.files.max_size.count)},
          {"max-pixels", std::to_string(options.files.max_pixels)}};
}

}  // namespace millrace::hash
