#include "src/kernels/hash/hash_rates.h"

#include <optional>

#include "src/base/stopwatch.h"
#include "src/kernels/hash/hash_device.h"
#include "src/kernels/test_vectors/inputs.h"

namespace millrace::hashes {

double measure_pixels_per_second(const HashRequest& request, std::size_t count, const Executor& executor,
                                 Accelerator* accelerator) {
  constexpr double kEnoughS = 0.25;
  constexpr int kWidth = 1600, kHeight = 1200;
  // Pictures share the pixels of one: no kernel's time depends on pixels, except for colorhash's counters.
  const std::vector<std::uint8_t> pixels = test_vectors::make_picture(kWidth, kHeight, 6);
  const std::vector<DecodedPicture> pictures(count, {pixels.data(), kWidth, kHeight, std::ptrdiff_t{3} * kWidth, 3});
  Budget budget(2_GiB);
  std::optional<DeviceHasher> hasher;
  if (accelerator != nullptr) hasher.emplace(request, executor, *accelerator, budget);
  const auto hash = [&] {
    if (hasher) {
      hasher->hash(pictures);
      return;
    }
    executor.parallel_for(count, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) hash_on_cpu(request, pictures[i]);
    });
  };
  hash();  // warm-up, for what is made once
  const std::uint64_t batches = accelerator != nullptr ? accelerator->counts().batches : 0;
  const Stopwatch watch;
  double mpixels = 0, seconds = 0;
  do {
    hash();
    mpixels += static_cast<double>(count) * kWidth * kHeight / 1e6;
    seconds = watch.seconds();
  } while (seconds < kEnoughS);
  if (accelerator != nullptr && (accelerator->is_excluded() || accelerator->counts().batches == batches)) return 0;
  return mpixels / seconds;
}

std::vector<MeasuredRate> measure_rates(Accelerator& accelerator, const Executor& executor) {
  std::vector<MeasuredRate> out;
  constexpr std::size_t kPictures = 16;
  for (const HashKind kind : kHashKinds) {
    const HashRequest request{{kind}, 8};
    const double device = measure_pixels_per_second(request, kPictures, executor, &accelerator);
    if (device == 0) continue;
    out.push_back({std::string("hash.") + name_of(kind), "Mpixels/s", device,
                   measure_pixels_per_second(request, kPictures, executor, nullptr)});
  }
  return out;
}

}  // namespace millrace::hashes
