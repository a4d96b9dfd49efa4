// Input: decoded pictures in memory.
// Output: their perceptual hashes; whether two show the same photograph.
// Never: reads or writes a file, or keeps what it was given.
//
// Definitions: docs/formats.md. The hashes are those of `millrace hash`, bit for bit those of imagehash 4.3.2 over
// Pillow 13.0.0 and of pdqhash 0.2.8, for any number of threads and on any CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "millrace/array.h"
#include "millrace/cancel.h"
#include "millrace/error.h"
#include "millrace/export.h"

namespace millrace {

struct HashOptions {
  std::vector<std::string> kinds = {"dhash"};  // ahash, dhash, dhash_vertical, phash, whash, colorhash, pdq
  int size = 8;     // 2 to 64: size x size bits; a power of two for whash. colorhash has 42 bits and pdq 256
  int threads = 0;  // 0 or less: one a core that this process may run on
};

// Thread-safe.
class MILLRACE_API ImageHasher {
 public:
  // Throws Failure(usage) for a kind that there is not, and a size that does not fit it.
  explicit ImageHasher(const HashOptions& options);
  ~ImageHasher();
  ImageHasher(ImageHasher&&) noexcept;
  ImageHasher& operator=(ImageHasher&&) noexcept;

  std::size_t kinds() const;
  std::size_t bits(std::size_t kind) const;  // of a hash; std::out_of_range from kinds() on
  // Of a hash as bytes: its bits as one number, the first bit highest, the highest byte first. Its last (bits + 3) / 4
  // hexadecimal digits are what `millrace hash` and imagehash print.
  std::size_t bytes(std::size_t kind) const { return (bits(kind) + 7) / 8; }

  // An image is uint8 in host memory: [height, width] or [height, width, 1], gray, or [height, width, 3], RGB; sides
  // from 1 to 65,535; any strides. codes[k] has room for images.size() * bytes(k): of each image its hash of that kind.
  // Throws Failure(usage) that names the image, its type and shape, before anything is written, and Failure(cancelled)
  // where `cancel`, which is looked at between images, says so.
  void hash(std::span<const ArrayView> images, std::span<std::uint8_t* const> codes,
            const CancelToken* cancel = nullptr) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// What `millrace dedupe` says of two pictures by their pixels, of each reduced to a thumbnail (docs/dedupe.md).
struct PictureComparison {
  std::string kind;  // same; recoloured: one design in other colours; different
  float score = 0;   // how sure, from 0 to 1: at least 0.5 exactly where `kind` is same
  int turned = 0;  // how the second lies to the first, as an EXIF orientation: 1 is upright, 2 to 8 turned or mirrored
};

// Images as hash() takes them; upright alone, or in the best of eight orientations. The same for (a, b) and (b, a), but
// for `turned`. Throws Failure(usage) that names a or b, its type and shape.
MILLRACE_API PictureComparison same_picture(const ArrayView& a, const ArrayView& b, bool orientations = false);

}  // namespace millrace
