// Input: rows of a picture, top to bottom.
// Output: its 256-bit PDQ hash and quality.
// Never: holds the picture: a window of rows and two 64-wide passes are enough.
//
// PDQ ("The TMK+PDQF Video-Hashing Algorithm and the PDQ Image-Hashing Algorithm", Facebook 2019) computes luma in
// float. Two rounds of a box filter go along rows, then columns, with a window of ceil(side / 128), and 64 x 64 samples
// are taken at cell centres. The 16 x 16 lowest DCT coefficients are kept, without the first row and column; bit =
// coefficient > median (the lower of the two middle values). Quality, 0 to 100, sums the quantised gradients of the 64
// x 64 samples; at most 49 means that the hash has little information. The float sums follow the order of the published
// program as pdqhash 0.2.8 wraps it, so bits and quality are equal to pdqhash's on the same pixels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "src/memory/workspace.h"

namespace millrace {

struct PdqHash {
  // Bytes in big-endian order, as the usual hexadecimal form is written: bytes[0] holds the highest frequencies' bits.
  std::array<std::uint8_t, 32> bytes{};
  int quality = 0;
};

class PdqHasher {
 public:
  // Pictures less than 5 pixels a side have the hash zero and quality 0, as in the original.
  PdqHasher(int width, int height);
  ~PdqHasher();

  // Takes the next rows: `channels` is 1 (gray) or 3 (RGB), 8 bits each.
  void push(const std::uint8_t* data, std::ptrdiff_t stride, int rows, int channels);
  PdqHash finish();

  static Workspace workspace(int width, int height);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Reference: the definition in code, whole picture at once.
PdqHash pdq_reference(const std::uint8_t* data, int width, int height, int channels);

}  // namespace millrace
