// Input: the shape of a latent.
// Output: its sides, as an array has them.
// Never: reads the latent.
#pragma once

#include <cstdint>
#include <vector>

#include "src/kernels/latents/latents.h"

namespace millrace::latents {

inline std::vector<std::int64_t> sides(const LatentShape& shape) {
  return {shape.channels, shape.frames, shape.height, shape.width};
}

}  // namespace millrace::latents
