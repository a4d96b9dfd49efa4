#include "src/kernels/resize/resize.h"
#include "src/kernels/resize/resize_math.h"

namespace millrace {
namespace {

using Plane = std::vector<std::uint8_t>;

Plane pass(const Plane& in, int width, int height, int out, bool horizontal) {
  const auto shared = lanczos_axis(horizontal ? width : height, out);
  const ResizeAxis& axis = *shared;
  const int out_width = horizontal ? out : width;
  const int out_height = horizontal ? height : out;
  const auto at = [](int x, int y, int w) {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(w) + static_cast<std::size_t>(x);
  };
  Plane result(at(0, out_height, out_width));
  for (int y = 0; y < out_height; ++y) {
    for (int x = 0; x < out_width; ++x) {
      const int o = horizontal ? x : y;
      const std::int32_t* weights = axis.weights_of(o);
      std::int32_t sum = kResizeHalf;
      for (int i = 0; i < axis.count[static_cast<std::size_t>(o)]; ++i) {
        const int from = axis.first[static_cast<std::size_t>(o)] + i;
        sum += in[horizontal ? at(from, y, width) : at(x, from, width)] * weights[i];
      }
      result[at(x, y, out_width)] = resize_clip(sum);
    }
  }
  return result;
}

}  // namespace

std::vector<std::uint8_t> resize_reference(const std::uint8_t* data, std::ptrdiff_t stride, int width, int height,
                                           int out_width, int out_height) {
  Plane plane;
  for (int y = 0; y < height; ++y) plane.insert(plane.end(), data + y * stride, data + y * stride + width);
  const bool vertical_first = vertical_pass_first(width, height, out_width, out_height);
  for (const bool horizontal : {!vertical_first, vertical_first}) {
    if (horizontal && out_width != width) {
      plane = pass(plane, width, height, out_width, true);
      width = out_width;
    }
    if (!horizontal && out_height != height) {
      plane = pass(plane, width, height, out_height, false);
      height = out_height;
    }
  }
  return plane;
}

}  // namespace millrace
