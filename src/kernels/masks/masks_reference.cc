#include "src/kernels/masks/masks.h"
#include "src/kernels/masks/masks_math.h"

namespace millrace::masks {

void mix_reference(const std::uint16_t* a, const std::uint16_t* b, std::uint16_t weight, std::uint16_t* out,
                   std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::uint16_t>(between(a[i], b[i], weight));
}

void blend_reference(const std::uint8_t* back, const std::uint8_t* front, const std::uint16_t* mask, std::uint8_t* out,
                     std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::uint8_t>(between(back[i], front[i], mask[i]));
}

void blend_reference(const std::uint16_t* back, const std::uint16_t* front, const std::uint16_t* mask,
                     std::uint16_t* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::uint16_t>(between(back[i], front[i], mask[i]));
}

}  // namespace millrace::masks
