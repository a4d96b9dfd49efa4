// Input: a picture's pixels and one of the eight ways to turn or mirror it.
// Output: the pixels turned.
// Never: reads EXIF; whoever decodes hands the orientation on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace millrace {

// EXIF's numbering (TIFF 6.0 tag 274): what must be done to the stored pixels to show the picture upright.
enum class Orientation : std::uint8_t {
  upright = 1,
  mirrored = 2,  // left and right swapped
  turned_180 = 3,
  flipped = 4,      // top and bottom swapped
  transposed = 5,   // across the main diagonal
  turned_90 = 6,    // clockwise
  transversed = 7,  // across the other diagonal
  turned_270 = 8,   // clockwise
};

inline constexpr std::array<Orientation, 8> kOrientations = {
    Orientation::upright,    Orientation::mirrored,  Orientation::turned_180,  Orientation::flipped,
    Orientation::transposed, Orientation::turned_90, Orientation::transversed, Orientation::turned_270};

// Where an orientation stands in kOrientations: its number less one.
constexpr std::size_t index_of(Orientation o) { return static_cast<std::size_t>(o) - 1; }

// True when width and height change places.
constexpr bool swaps_sides(Orientation o) { return static_cast<int>(o) >= 5; }

// Applying `o` and then `inverse(o)` changes nothing.
Orientation inverse(Orientation o);

// `pixels` is height x width x channels, 8 bits; the result has the sides swapped where the orientation does that.
void orient(const std::uint8_t* pixels, int width, int height, int channels, Orientation o, std::uint8_t* out);
std::vector<std::uint8_t> oriented(const std::uint8_t* pixels, int width, int height, int channels, Orientation o);

}  // namespace millrace
