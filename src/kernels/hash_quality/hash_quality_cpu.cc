#include <algorithm>
#include <cstdlib>

#include "src/kernels/hash_quality/hash_quality.h"

namespace millrace {

int gradient_quality(const std::uint8_t* luma32) {
  int sum = 0;
  for (int y = 0; y < kQualitySide; ++y) {
    for (int x = 0; x < kQualitySide; ++x) {
      const int here = luma32[y * kQualitySide + x];
      if (x + 1 < kQualitySide) sum += std::abs(here - luma32[y * kQualitySide + x + 1]) * 100 / 255;
      if (y + 1 < kQualitySide) sum += std::abs(here - luma32[(y + 1) * kQualitySide + x]) * 100 / 255;
    }
  }
  return std::min(100, sum / 45);
}

}  // namespace millrace
