// Input: a file that a search has seen.
// Output: its picture, upright, as large as it is wanted.
// Never: decodes a file that is not as it was then.
#pragma once

#include <functional>

#include "src/io/image/fingerprint.h"
#include "src/jobs/picture_files.h"

namespace millrace::dedupe {

// As the search saw it.
struct SearchedPicture {
  const std::string& path;
  std::uint64_t size;
  std::int64_t mtime_ns;
  int width, height;  // upright
};

// Its longer side at most `side`, reduced by the decoder as far as that can; 0: all its pixels. Error(conflict) where
// the file changed; an Error where it cannot be opened or decoded.
Outcome<Fingerprint> decode_searched(const SearchedPicture& picture, int side, const PictureFileOptions& options,
                                     RunContext& context, Span& span);

}  // namespace millrace::dedupe
