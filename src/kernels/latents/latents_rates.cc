#include "src/kernels/latents/latents_rates.h"

#include <optional>
#include <span>

#include "src/base/stopwatch.h"
#include "src/device/queue.h"
#include "src/kernels/latents/latents_device.h"
#include "src/kernels/latents/latents_test_vectors.h"

namespace millrace::latents {

double measure_elements_per_second(const LatentShape& shape, std::size_t count, const Executor& executor,
                                   Accelerator* accelerator, bool on_device) {
  constexpr double kEnoughS = 0.25;
  // Values of one latent are as good as those of many: the only difference is how often counts meet in a bin.
  SyntheticLatents made(shape, true, 1, 6);
  std::vector<ArrayView> latents(count, made.views().front());
  DeviceBuffer<std::byte> there;
  if (on_device) {
    const std::size_t each = made.bytes().size();
    there = {*accelerator, count * each, "latents"};
    Queue queue(*accelerator);
    for (std::size_t i = 0; i < count; ++i) {
      queue.upload(std::span<const std::byte>(made.bytes()), there, i * each);
      latents[i].data = reinterpret_cast<void*>(there.memory()->handle + i * each);
      latents[i].memory = MemoryKind::device;
    }
  }
  std::vector<Measures> out(count);
  Budget budget(4_GiB);
  std::optional<DeviceAnalyzer> analyzer;
  if (accelerator != nullptr) analyzer.emplace(shape, every_metric(), executor, *accelerator, budget);
  const auto measure = [&] {
    if (analyzer) {
      analyzer->measure(latents, out);
      return;
    }
    executor.parallel_for(count, 1, [&](std::size_t begin, std::size_t end) {
      Analyzer own(shape);
      for (std::size_t i = begin; i < end; ++i) own.measure(latents[i], out[i]);
    });
  };
  measure();  // warm-up
  const std::uint64_t batches = accelerator != nullptr ? accelerator->counts().batches : 0;
  const Stopwatch watch;
  double elements = 0, seconds = 0;
  do {
    measure();
    elements += static_cast<double>(count) * static_cast<double>(shape.elements()) / 1e6;
    seconds = watch.seconds();
  } while (seconds < kEnoughS);
  if (accelerator != nullptr && (accelerator->is_excluded() || accelerator->counts().batches == batches)) return 0;
  return elements / seconds;
}

std::vector<MeasuredRate> measure_rates(Accelerator& accelerator, const Executor& executor) {
  constexpr std::size_t kLatents = 16;
  const double device = measure_elements_per_second(kTypicalShape, kLatents, executor, &accelerator);
  if (device == 0) return {};
  return {
      {"latents.all", "Mnumbers/s", device, measure_elements_per_second(kTypicalShape, kLatents, executor, nullptr)}};
}

}  // namespace millrace::latents
