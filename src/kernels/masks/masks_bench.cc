// Cost of a mask of 256 x 256 in a video of 1920 x 1080 in 4:2:0. The mask is enlarged, shrunk for chroma, and mixes
// two frames. Memory to move: 4.1 MB of mask, and three times 3.1 MB of frames.

#include <benchmark/benchmark.h>

#include "src/kernels/masks/masks.h"

namespace millrace::masks {
namespace {

constexpr int kWidth = 1920, kHeight = 1080, kSide = 256;

void enlarge_and_blend(benchmark::State& state) {
  std::vector<std::uint16_t> mask(kSide * kSide), rows(2 * kWidth), chroma(kWidth / 2);
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = static_cast<std::uint16_t>(i * 7919 % (kOne + 1));
  std::vector<std::uint8_t> back(kWidth * kHeight * 3 / 2), front(back.size(), 90), out(back.size());
  for (std::size_t i = 0; i < back.size(); ++i) back[i] = static_cast<std::uint8_t>(i * 31);
  Enlarger enlarger(kSide, kSide, kWidth, kHeight);
  for (auto _ : state) {
    enlarger.begin(mask.data());
    std::size_t c = std::size_t{kWidth} * kHeight;
    for (int y = 0; y < kHeight; y += 2) {
      for (int k = 0; k < 2; ++k) {
        std::uint16_t* row = rows.data() + k * kWidth;
        enlarger.row(y + k, row);
        const std::size_t at = static_cast<std::size_t>(y + k) * kWidth;
        blend(back.data() + at, front.data() + at, row, out.data() + at, kWidth);
      }
      shrink(rows.data(), rows.data() + kWidth, 2, chroma.data(), kWidth);
      for (int p = 0; p < 2; ++p, c += kWidth / 2)
        blend(back.data() + c, front.data() + c, chroma.data(), out.data() + c, kWidth / 2);
    }
    benchmark::DoNotOptimize(out.data());
  }
}

BENCHMARK(enlarge_and_blend)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace millrace::masks

BENCHMARK_MAIN();
