#include "src/jobs/hash/options.h"

#include <fmt/format.h>

#include "src/base/text.h"

namespace millrace::hash {

void describe(Settings& settings, Options& options) {
  settings.heading("Hashes");
  settings.add_parsed("kinds", "KIND,...", "hash kinds: ahash, dhash, dhash_vertical, phash, whash, colorhash, pdq",
                      "dhash", [&options](const std::string& text) {
                        options.request.kinds.clear();
                        for (const std::string& part : split(text, ',')) {
                          const auto kind = hash_kind_named(trim(part));
                          if (!kind) {
                            throw Failure(ErrorCode::usage, fmt::format("'{}' is not a hash kind", part), "",
                                          "use ahash, dhash, dhash_vertical, phash, whash, colorhash or pdq");
                          }
                          options.request.kinds.push_back(*kind);
                        }
                      });
  settings.add_parsed("size", "N", "hash size: N x N bits", "8", [&options](const std::string& text) {
    const auto parsed = parse_bytes(text);
    if (!parsed || parsed->count < 2 || parsed->count > 64) {
      throw Failure(ErrorCode::usage, fmt::format("'{}' is not a whole number from 2 to 64", text));
    }
    options.request.size = static_cast<int>(parsed->count);
  });
  settings.add_choice("decode", "decode every pixel, or JPEGs at a reduced scale whose drift is measured",
                      options.decode);
  settings.add_choice("orientation", "hash the pixels as stored, or turned upright by EXIF", options.orientation);
  settings.add_choice("format", "how the hashes are printed", options.format);
  settings.heading("Files");
  settings.add_switch("all-files", "also files whose name has no picture's extension", options.all_files);
  describe(settings, options.files);
}

}  // namespace millrace::hash
