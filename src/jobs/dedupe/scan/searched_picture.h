// Input: a file that an earlier search read.
// Output: its picture, upright, at the requested size.
// Never: decodes a file that changed since that search.
#pragma once

#include <functional>

#include "src/io/image/fingerprint.h"
#include "src/jobs/picture_files.h"

namespace millrace::dedupe {

// Properties of a file at the time of the search.
struct SearchedPicture {
  const std::string& path;
  std::uint64_t size;
  std::int64_t mtime_ns;
  int width, height;  // upright
};

// Decodes the picture with a longer side of at most `side`, reduced by the decoder as far as possible; 0 means full
// size. Returns Error(conflict) if the file changed, and another Error if it cannot be opened or decoded.
Outcome<PictureFingerprint> decode_searched_picture(const SearchedPicture& picture, int side,
                                                    const PictureFileOptions& options, RunContext& context, Span& span);

}  // namespace millrace::dedupe
