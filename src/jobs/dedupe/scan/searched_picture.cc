#include "src/jobs/dedupe/scan/searched_picture.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/text.h"
#include "src/io/file/file_reader.h"

namespace millrace::dedupe {

Outcome<PictureFingerprint> decode_searched_picture(const SearchedPicture& picture, int side,
                                                    const PictureFileOptions& options, RunContext& context,
                                                    Span& span) {
  auto file = FileReader::open(picture.path, FileReader::Hashing::off);
  if (!file) return file.error();
  if ((*file)->size() != picture.size || (*file)->mtime_ns() != picture.mtime_ns) {
    return Error{ErrorCode::conflict, "it changed since the search", escape_unprintable(picture.path),
                 "run the search again, and review its result"};
  }
  FingerprintOptions wanted;
  wanted.upright = true;
  wanted.decode = decode_options(options, context);
  const int longer = std::max({picture.width, picture.height, 1}), shorter = std::min(picture.width, picture.height);
  wanted.thumbnail_side = side > 0 ? side : longer;
  // The shorter side is scaled like the longer one.
  if (side > 0) wanted.decode.shortest_side = std::max(1, static_cast<int>(std::int64_t{shorter} * side / longer));
  auto out = compute_fingerprint(
      **file, wanted, context.budget, [&context] { return context.cancel.cancelled(); }, span);
  if (!out) return out;
  // The size differs from the recorded one, so this is not the picture that was searched.
  const bool swapped = swaps_sides(out->info.exif.orientation);
  const int width = swapped ? out->info.full_height : out->info.full_width,
            height = swapped ? out->info.full_width : out->info.full_height;
  if (picture.width > 0 && (picture.width != width || picture.height != height)) {
    return Error{ErrorCode::conflict,
                 fmt::format("it has {} x {} pixels; expected {} x {}, as in the search result", width, height,
                             picture.width, picture.height),
                 escape_unprintable(picture.path), "run the search again with another --catalog"};
  }
  return out;
}

}  // namespace millrace::dedupe
