#include "src/jobs/hash/options.h"

#include <fmt/format.h>

#include "src/base/parse_values.h"
#include "src/base/text.h"

namespace millrace::hash {

void describe(Settings& settings, HashJobOptions& options) {
  settings.set_heading("Hashes");
  settings.add_parsed("kinds", "KIND,...", "hash kinds: ahash, dhash, dhash_vertical, phash, whash, colorhash, pdq",
                      "dhash", [&options](const std::string& text) {
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
  settings.add_parsed("size", "N", "hash size: N x N bits", "8", [&options](const std::string& text) {
    options.request.size = static_cast<int>(parse_whole_number(text, 2, 64));
  });
  settings.add_choice("decode", "decode every pixel, or JPEGs at a reduced scale whose drift is measured",
                      options.decode);
  settings.add_choice("orientation", "hash the pixels as stored, or turned upright by EXIF", options.orientation);
  settings.add_choice("format", "how the hashes are printed", options.format);
  settings.set_heading("Output");
  settings.add_text("output", "FOLDER",
                    "a folder with hashes.csv, or hashes.jsonl, made in shards that a later run goes on with; without "
                    "it lines go to stdout",
                    options.output);
  settings.add_integer("shard", "N", "pictures of a shard", options.shard, 1, 1'000'000);
  describe(settings, options.share);
  settings.set_heading("Files");
  settings.add_text("inventory", "FILE.jsonl", "what millrace inventory has listed, instead of PATH",
                    options.inventory);
  settings.add_switch("all-files", "also files whose name has no picture's extension", options.all_files);
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
