// Input: a picture file and the options that say which results are wanted.
// Output: hashes, quality and a thumbnail, computed from the rows as they are decoded.
// Never: holds the whole picture, unless it must be rotated or mirrored first; exceeds the memory budget, as it waits
// for its share.
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
  bool upright = false;       // rotate or mirror by the EXIF orientation before hashing; always done for a TIFF
  int thumbnail_side = 0;     // pixels on the longer side of an RGB thumbnail; 0 makes none
  bool content_hash = false;  // also hash the file's bytes while they are read
};

struct Thumbnail {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  // width * height * 3
};

// Makes a thumbnail of decoded pixels: 8 bits, `channels` 1 (gray) or 3 (RGB), rows `stride` bytes apart.
Thumbnail make_thumbnail(const std::uint8_t* data, int width, int height, std::ptrdiff_t stride, int channels,
                         int side);

struct PictureFingerprint {
  PictureInfo info;  // width, height: as decoded, before rotating; full_width, full_height: as stored
  bool damaged = false;
  std::string damage;
  UnshownData unshown;
  bool turned = false;  // rotated or mirrored by its orientation before hashing
  PictureHashes hashes;
  Thumbnail thumbnail;
  ContentHash content{};
};

// Waits in `span` for memory from `budget`. Returns Error(cancelled) when `cancelled` turns true during the wait.
// Returns Error(out_of_memory), with the bytes that are needed, when the picture can never fit.
Outcome<PictureFingerprint> compute_fingerprint(FileReader& file, const FingerprintOptions& options, Budget& budget,
                                                const std::function<bool()>& cancelled, Span& span);

}  // namespace millrace
