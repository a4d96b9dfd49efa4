// Input: rows of a decoded picture, top to bottom, and the hash kinds wanted.
// Output: the hashes, bit for bit those of imagehash 4.3.2 over Pillow 13.0.0 and of pdqhash 0.2.8.
// Never: decodes; never reads a row twice.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/memory/workspace.h"

namespace millrace {

// Kinds of hashes, by what sets a bit. ahash: a pixel brighter than the mean. dhash: brighter than the left neighbour.
// dhash_vertical: brighter than the upper one. phash: a DCT coefficient above their median. whash: a Haar coefficient
// above their median. colorhash: shares of hue and saturation. pdq: Facebook's 256 bits. docs/formats.md has the
// definitions.
enum class HashKind : std::uint8_t { ahash, dhash, dhash_vertical, phash, whash, colorhash, pdq };

inline constexpr std::array<HashKind, 7> kHashKinds = {HashKind::ahash, HashKind::dhash, HashKind::dhash_vertical,
                                                       HashKind::phash, HashKind::whash, HashKind::colorhash,
                                                       HashKind::pdq};

const char* name_of(HashKind kind);
std::optional<HashKind> find_hash_kind(std::string_view name);

// Version of the hashes; it changes whenever a hash of the same pixels would. Part of the catalog's key.
inline constexpr int kHashVersion = 1;

// Bits of a hash, one byte each, row-major, most significant first.
using HashBits = std::vector<std::uint8_t>;

// Returns the bits of a hash of at most 64 bits as one number, first bit highest.
std::uint64_t packed64(const HashBits& bits);

// The hashes of small gray buffers, when a picture has already been reduced. `size` is the hash size n.
HashBits ahash_of(const std::uint8_t* pixels, int size);            // n x n
HashBits dhash_of(const std::uint8_t* pixels, int size);            // (n + 1) wide, n high
HashBits dhash_vertical_of(const std::uint8_t* pixels, int size);   // n wide, (n + 1) high
HashBits phash_of(const std::uint8_t* pixels, int size);            // 4n x 4n
HashBits whash_of(const std::uint8_t* pixels, int side, int size);  // side x side, powers of two

struct HashRequest {
  std::vector<HashKind> kinds;
  int size = 8;  // 2 to 64; a power of two for whash. colorhash has 42 bits and pdq 256 whatever the size
};
// Throws Failure(usage) that names the first mistake, if there is one.
void check(const HashRequest& request);

struct PictureHashes {
  std::vector<HashBits> bits;  // in the order of the request's kinds
  int quality = 0;             // src/kernels/hash_quality; pdq's own where pdq was requested

  friend bool operator==(const PictureHashes&, const PictureHashes&) = default;
};

// Hashes one picture while it is decoded. For many pictures at a time that are decoded already, hash_device.h computes
// the same on a device.
class PictureHasher {
 public:
  PictureHasher(const HashRequest& request, int width, int height);
  ~PictureHasher();

  // Takes the next rows, 8 bits, `channels` 1 (gray) or 3 (RGB).
  void push(const std::uint8_t* data, std::ptrdiff_t stride, int rows, int channels);
  PictureHashes finish();

  // False if the hashes of a picture are those of its luma.
  static bool needs_color(const HashRequest& request);
  static Workspace workspace(const HashRequest& request, int width, int height);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace
