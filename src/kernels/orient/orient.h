// Input: the pixels of an image and one of the eight EXIF orientations.
// Output: the pixels rotated or mirrored.
// Never: reads EXIF; the decoder provides the orientation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace millrace {

// EXIF's numbering (TIFF 6.0 tag 274): the transformation of the stored pixels that shows the image upright.
enum class Orientation : std::uint8_t {
  upright = 1,
  mirrored = 2,  // left and right swapped
  rotated_180 = 3,
  flipped = 4,      // top and bottom swapped
  transposed = 5,   // across the main diagonal
  rotated_90 = 6,   // clockwise
  transversed = 7,  // across the other diagonal
  rotated_270 = 8,  // clockwise
};

inline constexpr std::array<Orientation, 8> kOrientations = {
    Orientation::upright,    Orientation::mirrored,   Orientation::rotated_180, Orientation::flipped,
    Orientation::transposed, Orientation::rotated_90, Orientation::transversed, Orientation::rotated_270};

// Returns the index of an orientation in kOrientations: its number minus one.
constexpr std::size_t index_of(Orientation o) { return static_cast<std::size_t>(o) - 1; }

// True if width and height are swapped.
constexpr bool swaps_sides(Orientation o) { return static_cast<int>(o) >= 5; }

// Returns the orientation that undoes `o`.
Orientation inverse(Orientation o);

// Applies an orientation. `pixels` is height x width x channels, 8 bits; the result's sides are swapped if
// swaps_sides(o).
void orient(const std::uint8_t* pixels, int width, int height, int channels, Orientation o, std::uint8_t* out);
std::vector<std::uint8_t> oriented(const std::uint8_t* pixels, int width, int height, int channels, Orientation o);

}  // namespace millrace
