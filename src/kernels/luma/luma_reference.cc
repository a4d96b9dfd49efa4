#include "src/kernels/luma/luma.h"
#include "src/kernels/luma/luma_math.h"

namespace millrace {

void luma_from_rgb_reference(const std::uint8_t* rgb, std::uint8_t* luma, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    luma[i] = luma_of(rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]);
  }
}

}  // namespace millrace
