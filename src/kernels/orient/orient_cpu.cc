#include <cstddef>
#include <cstring>

#include "src/kernels/orient/orient.h"

namespace millrace {
namespace {

// Source offset of the result's upper left pixel, and the source steps to the pixels right of it and below it.
struct Walk {
  std::ptrdiff_t start, right, down;
};

Walk walk_of(Orientation o, std::ptrdiff_t width, std::ptrdiff_t height) {
  const std::ptrdiff_t last_column = width - 1, last_row = (height - 1) * width;
  switch (o) {
    case Orientation::upright:
      break;
    case Orientation::mirrored:
      return {last_column, -1, width};
    case Orientation::rotated_180:
      return {last_row + last_column, -1, -width};
    case Orientation::flipped:
      return {last_row, 1, -width};
    case Orientation::transposed:
      return {0, width, 1};
    case Orientation::rotated_90:
      return {last_row, -width, 1};
    case Orientation::transversed:
      return {last_row + last_column, -width, -1};
    case Orientation::rotated_270:
      return {last_column, width, -1};
  }
  return {0, 1, width};
}

// kChannels is 0 if the number of channels is known only at run time, by `channels`.
template <int kChannels>
void copy(const std::uint8_t* pixels, int width, int height, int channels, const Walk& walk, std::uint8_t* out) {
  const std::ptrdiff_t bytes = kChannels > 0 ? kChannels : channels;
  for (int y = 0; y < height; ++y) {
    const std::uint8_t* from = pixels + (walk.start + y * walk.down) * bytes;
    for (int x = 0; x < width; ++x, out += bytes) {
      std::memcpy(out, from + x * walk.right * bytes, static_cast<std::size_t>(bytes));
    }
  }
}

}  // namespace

Orientation inverse(Orientation o) {
  if (o == Orientation::rotated_90) return Orientation::rotated_270;
  if (o == Orientation::rotated_270) return Orientation::rotated_90;
  return o;
}

void orient(const std::uint8_t* pixels, int width, int height, int channels, Orientation o, std::uint8_t* out) {
  const Walk walk = walk_of(o, width, height);
  const int out_width = swaps_sides(o) ? height : width;
  const int out_height = swaps_sides(o) ? width : height;
  switch (channels) {
    case 1:
      return copy<1>(pixels, out_width, out_height, 1, walk, out);
    case 3:
      return copy<3>(pixels, out_width, out_height, 3, walk, out);
    case 4:
      return copy<4>(pixels, out_width, out_height, 4, walk, out);
    default:
      return copy<0>(pixels, out_width, out_height, channels, walk, out);
  }
}

std::vector<std::uint8_t> oriented(const std::uint8_t* pixels, int width, int height, int channels, Orientation o) {
  std::vector<std::uint8_t> out(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) *
                                static_cast<std::size_t>(channels));
  orient(pixels, width, height, channels, o, out.data());
  return out;
}

}  // namespace millrace
