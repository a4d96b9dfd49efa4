// Input: a picture file and what is wanted of it.
// Output: hashes, quality and a thumbnail, made from the rows as they are decoded.
// Never: holds the whole picture, unless it must be turned first; never exceeds the budget: it waits for its part.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "src/io/image/picture.h"
#include "src/kernels/hash/hash.h"
#include "src/memory/budget.h"
#include "src/trace/trace.h"

namespace millrace {

struct FingerprintOptions {
  HashRequest hashes;
  DecodeOptions decode;
  bool upright = false;       // turn by the EXIF orientation before hashing; TIFF is turned whenever it is opened
  int thumbnail_side = 0;     // pixels on the longer side of an RGB thumbnail; 0 makes none
  bool content_hash = false;  // also hash the file's bytes while they pass by
};

struct Thumbnail {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  // width * height * 3
};

// Of a picture that is decoded already: 8 bits, `channels` 1 (gray) or 3 (RGB), rows `stride` bytes apart.
Thumbnail thumbnail_of(const std::uint8_t* data, int width, int height, std::ptrdiff_t stride, int channels, int side);

struct Fingerprint {
  PictureInfo info;  // width, height: as decoded, before turning; full_width, full_height: as stored
  bool damaged = false;
  std::string damage;
  Unshown unshown;
  bool turned = false;  // by its orientation, before it was hashed
  PictureHashes hashes;
  Thumbnail thumbnail;
  ContentHash content{};
};

// Waits in `span` for memory from `budget`; gives Error(cancelled) when `cancelled` turns true while it waits, and
// Error(out_of_memory) naming what is needed when the picture can never fit.
Outcome<Fingerprint> fingerprint(FileReader& file, const FingerprintOptions& options, Budget& budget,
                                 const std::function<bool()>& cancelled, Span& span);

}  // namespace millrace
