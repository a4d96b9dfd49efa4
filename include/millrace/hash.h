// Input: decoded images in memory.
// Output: their perceptual hashes, and a decision whether two images show the same photograph.
// Never: reads or writes a file, or keeps the caller's data.
//
// Definitions: docs/formats.md. The hashes are those of `millrace hash`, for any number of threads and on any CPU. They
// equal those of imagehash 4.3.2 over Pillow 13.0.0 and of pdqhash 0.2.8 bit for bit.
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
  int size = 8;     // 2 to 64: size x size bits; a power of two for whash. colorhash has 42 bits, pdq 256
  int threads = 0;  // 0 or less: one per core that this process may run on
};

// Thread-safe.
class MILLRACE_API ImageHasher {
 public:
  // Throws Failure(usage) for an unknown kind, or for a size that the kind does not support.
  explicit ImageHasher(const HashOptions& options);
  ~ImageHasher();
  ImageHasher(ImageHasher&&) noexcept;
  ImageHasher& operator=(ImageHasher&&) noexcept;

  std::size_t kinds() const;
  std::size_t bits(std::size_t kind) const;  // bits of one hash; std::out_of_range for `kind` >= kinds()
  // Size of one hash in bytes. The bytes are one big-endian number whose highest bit is the first bit of the hash. Its
  // last (bits + 3) / 4 hexadecimal digits are the ones that `millrace hash` and imagehash print.
  std::size_t bytes(std::size_t kind) const { return (bits(kind) + 7) / 8; }

  // An image is uint8 in host memory: [height, width] or [height, width, 1] for gray, [height, width, 3] for RGB. Sides
  // are from 1 to 65,535; any strides are accepted. codes[k] must have room for images.size() * bytes(k) bytes and
  // receives the hash of kind k of each image. Throws Failure(usage) with the number, type and shape of the image,
  // before anything is written. Throws Failure(cancelled) if `cancel` is set; it is polled between images.
  void hash(std::span<const ArrayView> images, std::span<std::uint8_t* const> codes,
            const CancelToken* cancel = nullptr) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Comparison of two images by their pixels, as in `millrace dedupe`, each reduced to a thumbnail (docs/dedupe.md).
struct PictureComparison {
  std::string kind;  // same; recoloured: one design in other colours; different
  float score = 0;   // certainty of sameness, from 0 to 1: at least 0.5 exactly if `kind` is same
  int turned = 0;    // second relative to the first, as an EXIF orientation: 1 upright, 2 to 8 rotated or mirrored
};

// Compares images as hash() takes them, upright only or in the best of eight orientations. (a, b) and (b, a) give the
// same result except for `turned`. Throws Failure(usage) with the name (a or b), type and shape.
MILLRACE_API PictureComparison same_picture(const ArrayView& a, const ArrayView& b, bool orientations = false);

}  // namespace millrace
