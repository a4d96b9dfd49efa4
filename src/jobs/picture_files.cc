#include "src/jobs/picture_files.h"

namespace millrace {

void describe(Settings& settings, PictureFileOptions& options) {
  describe(settings, static_cast<FolderOptions&>(options));
  settings.add_bytes("max-size", "skip larger files, and report them", options.max_size);
  settings.add_integer("max-pixels", "N",
                       "skip pictures with more pixels (such as decompression bombs), and report them",
                       options.max_pixels, 1, 100'000'000'000);
}

DecodeOptions decode_options(const PictureFileOptions& options, RunContext& context) {
  DecodeOptions out;
  out.max_pixels = static_cast<std::uint64_t>(options.max_pixels);
  out.wide_gray = options.wide_gray;
  out.over_gray = options.over_gray;
  out.all_in_helpers = context.sandbox == SandboxMode::all;
  out.helpers = &context.helpers;
  out.cancelled = [&context] { return context.cancel.cancelled(); };
  return out;
}

}  // namespace millrace
