#include "src/kernels/latents/latents_test_vectors.h"

#include <cmath>
#include <cstring>

#include "src/kernels/latents/latents_device.h"
#include "src/kernels/test_vectors/test_vectors.h"

namespace millrace::latents {
namespace {

// Returns the float16 of a number between 2^-14 and 2^16, truncated.
std::uint16_t half_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<std::uint16_t>((bits >> 16 & 0x8000U) | (((bits >> 13) - (112U << 10)) & 0x7FFFU));
}

}  // namespace

SyntheticLatents::SyntheticLatents(const LatentShape& shape, bool halves, std::size_t count, std::uint64_t seed)
    : shape_(shape), halves_(halves), count_(count), bytes_(count * shape.elements() * (halves ? 2 : 4)) {
  test_vectors::Random random(seed);
  for (std::size_t i = 0; i < count * shape.elements(); ++i) {
    const std::size_t plane = i / shape.pixels(), pixel = i % shape.pixels(),
                      width = static_cast<std::size_t>(shape.width);
    const auto slope = static_cast<float>((3 * (pixel / width) + 5 * (pixel % width) + 7 * plane) % 64) / 64;
    const float noise = static_cast<float>(random.below(1 << 20)) * 0x1p-19F - 1;
    const float value = slope + noise + static_cast<float>(plane % 5) / 8;
    if (halves) {
      const std::uint16_t half = std::fabs(value) < 0x1p-10F ? 0 : half_of(value);
      std::memcpy(bytes_.data() + 2 * i, &half, sizeof(half));
    } else {
      std::memcpy(bytes_.data() + 4 * i, &value, sizeof(value));
    }
  }
}

std::vector<ArrayView> SyntheticLatents::views() {
  const std::size_t each = bytes_.size() / count_;
  std::vector<ArrayView> out;
  for (std::size_t k = 0; k < count_; ++k) {
    out.push_back({bytes_.data() + k * each,
                   halves_ ? kFloat16 : kFloat32,
                   {shape_.channels, shape_.frames, shape_.height, shape_.width},
                   {},
                   MemoryKind::host,
                   0});
  }
  return out;
}

std::vector<Measures> measure_on_cpu(const LatentShape& shape, const MetricSelection& metrics,
                                     const std::vector<ArrayView>& latents) {
  Analyzer analyzer(shape, metrics);
  std::vector<Measures> out(latents.size());
  for (std::size_t i = 0; i < latents.size(); ++i) analyzer.measure(latents[i], out[i]);
  return out;
}

namespace {

bool measured_right(Accelerator& accelerator, const Executor& executor, const LatentShape& shape, bool halves,
                    std::size_t count, std::uint64_t seed) {
  Budget budget(256_MiB);
  SyntheticLatents made(shape, halves, count, seed);
  const std::vector<ArrayView> views = made.views();
  std::vector<Measures> found(views.size());
  DeviceAnalyzer analyzer(shape, every_metric(), executor, accelerator, budget);
  analyzer.measure(views, found);
  if (accelerator.is_excluded() || analyzer.counts().by_cpu > 0) return false;
  const std::vector<Measures> truth = measure_on_cpu(shape, every_metric(), views);
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (!same_bits(found[i], truth[i])) return false;
  }
  return accelerator.counts().fell_back == 0;
}

}  // namespace

bool gives_known_answers(Accelerator& accelerator) {
  const Executor executor(1);
  // The first shape has more channels than a group, and factors 2, 3, 4 and 11. The second one has few pixels, odd
  // sides, and factors 3 and 7.
  return measured_right(accelerator, executor, {17, 2, 44, 24}, true, 1, 14) &&
         measured_right(accelerator, executor, {5, 2, 21, 19}, false, 2, 14);
}

bool agrees_with_cpu(Accelerator& accelerator, const Executor& executor, std::uint64_t round) {
  test_vectors::Random random = test_vectors::make_random(round);
  const int size = test_vectors::round_size(round);
  const auto up_to = [&](int most) { return 1 + random.below(most); };
  for (const bool halves : {true, false}) {
    const LatentShape shape{up_to(20), up_to(1 + size / 4), up_to(4 + 3 * size), up_to(4 + 3 * size)};
    if (!measured_right(accelerator, executor, shape, halves, 2, random.next64())) return false;
  }
  return true;
}

}  // namespace millrace::latents
