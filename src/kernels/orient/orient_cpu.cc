#include <cstddef>
#include <cstring>

#include "src/kernels/orient/orient.h"

namespace millrace {

Orientation inverse(Orientation o) {
  if (o == Orientation::turned_90) return Orientation::turned_270;
  if (o == Orientation::turned_270) return Orientation::turned_90;
  return o;
}

std::vector<std::uint8_t> oriented(const std::uint8_t* pixels, int width, int height, int channels, Orientation o) {
  const int out_width = swaps_sides(o) ? height : width;
  const int out_height = swaps_sides(o) ? width : height;
  const auto c = static_cast<std::size_t>(channels);
  std::vector<std::uint8_t> out(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * c);
  for (int y = 0; y < out_height; ++y) {
    for (int x = 0; x < out_width; ++x) {
      int from_x = x, from_y = y;
      switch (o) {
        case Orientation::upright:
          break;
        case Orientation::mirrored:
          from_x = width - 1 - x;
          break;
        case Orientation::turned_180:
          from_x = width - 1 - x;
          from_y = height - 1 - y;
          break;
        case Orientation::flipped:
          from_y = height - 1 - y;
          break;
        case Orientation::transposed:
          from_x = y;
          from_y = x;
          break;
        case Orientation::turned_90:
          from_x = y;
          from_y = height - 1 - x;
          break;
        case Orientation::transversed:
          from_x = width - 1 - y;
          from_y = height - 1 - x;
          break;
        case Orientation::turned_270:
          from_x = width - 1 - y;
          from_y = x;
          break;
      }
      const auto pixel = [&](int px, int py, int w) {
        return (static_cast<std::size_t>(py) * static_cast<std::size_t>(w) + static_cast<std::size_t>(px)) * c;
      };
      std::memcpy(&out[pixel(x, y, out_width)], pixels + pixel(from_x, from_y, width), c);
    }
  }
  return out;
}

}  // namespace millrace
