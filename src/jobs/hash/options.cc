#include "src/jobs/hash/options.h"

#include <fmt/format.h>

#include "src/base/text.h"
#include "src/io/image/picture.h"

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
  settings.add_switch("hidden", "also files and folders whose name begins with a dot", options.hidden);
  settings.add_switch("follow-symlinks", "also what symbolic links inside a folder point to", options.follow_symlinks);
  settings.add_switch("cross-file-systems", "follow symbolic links to other file systems than those of the folders too",
                      options.cross_file_systems);
  settings.add_switch("all-files", "also files whose name has no picture's extension", options.all_files);
  settings.add_list("exclude", "GLOB", "leave out files and folders that match", options.exclude);
  settings.add_bytes("max-size", "name larger files instead of reading them", options.max_size);
  settings.add_integer("max-pixels", "N", "refuse larger pictures, against decompression bombs", options.max_pixels, 1,
                       100'000'000'000);
  settings.add_choice("sandbox", kSandboxHelp, options.sandbox);
}

}  // namespace millrace::hash
