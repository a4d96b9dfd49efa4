// Input: latents of one shape, in the memory of the host or of a CUDA device.
// Output: their measures, from sums that a device made: bit for bit those of Analyzer (latents.h).
// Never: returns a number that neither the CPU computed nor a check covers (src/device/batches.h).
//
// The device computes all sums over pixels, rows, frames and channels, the spectra of planes, and the counts of bins.
// It takes as many latents at once as fit. The host computes entropies, logarithms, eigenvalues, the spectrum of the
// mean plane, and everything that is few numbers. Beside its values a latent takes about nine times its float16 values
// on the device.
#pragma once

#include <memory>
#include <span>

#include "src/device/accelerator.h"
#include "src/device/cpu/executor.h"
#include "src/kernels/latents/latents.h"

namespace millrace::latents {

// Counts over all calls so far.
struct LatentCounts {
  std::uint64_t by_device = 0, compared = 0, by_cpu = 0;  // compared: number of those by the device
  double finishing_s = 0;                                 // time on the host to finish the device's sums
};

// Measures latents of one shape; keeps its memory on the device from one call to the next. Used by one thread at a
// time.
class DeviceAnalyzer {
 public:
  // Arguments outlive the object; its memory on the host is reserved in the budget. Throws Failure(usage) as Analyzer
  // does, and OutOfMemory if the budget has no room for a latent that the CPU measures.
  DeviceAnalyzer(const LatentShape& shape, const MetricSelection& wanted, const Executor& executor,
                 Accelerator& accelerator, Budget& budget);
  ~DeviceAnalyzer();
  DeviceAnalyzer(const DeviceAnalyzer&) = delete;
  DeviceAnalyzer& operator=(const DeviceAnalyzer&) = delete;

  // Takes views as Analyzer::measure() does, or with memory of the accelerator's device, aligned to the size of its
  // numbers. Adjacent views of one type are measured together. Their memory must not change meanwhile. The CPU measures
  // what the device cannot, or did wrong. `out` has as many elements, and is overwritten. Throws Failure(usage) for
  // other views, and Failure(cancelled) if the executor is cancelled. Throws Failure(unavailable) if the device is lost
  // on which the views lie.
  void measure(std::span<const ArrayView> latents, std::span<Measures> out);
  const LatentCounts& counts() const;

  // Returns the bytes held from the start for a latent that the CPU measures.
  static Bytes bytes_on_cpu(const LatentShape& shape);
  // Returns the bytes of a latent on the device, with its values if they come from the host.
  static std::uint64_t device_bytes(const LatentShape& shape, const MetricSelection& wanted, std::size_t value_bytes);
  // Returns the bytes that the host holds for so many latents at once, on so many threads.
  static std::uint64_t host_bytes(const LatentShape& shape, const MetricSelection& wanted, std::uint64_t latents,
                                  int threads);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace::latents
