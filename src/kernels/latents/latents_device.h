// Input: latents of one shape, in the host's memory or a CUDA device's.
// Output: what is measured of them, from sums that a device made: bit for bit Analyzer's (latents.h).
// Never: returns with a number that neither the CPU has made nor a check stands behind (src/device/batches.h).
//
// All sums over pixels, rows, frames and channels, spectra of planes and counts of bins are the device's, of as many
// latents at once as fit; entropies, logarithms, eigenvalues, the spectrum of the mean plane and all that is few
// numbers are made on the host. Beside its values a latent takes about nine times its float16 values on the device.
#pragma once

#include <memory>
#include <span>

#include "src/device/accelerator.h"
#include "src/device/cpu/executor.h"
#include "src/kernels/latents/latents.h"

namespace millrace::latents {

// Of all calls so far.
struct MeasuredLatents {
  std::uint64_t by_device = 0, compared = 0, by_cpu = 0;  // compared: of those by the device
  double finishing_s = 0;                                 // on the host, of what the device summed
};

// Measures latents of one shape; holds what it needs on the device from one call to the next. One thread at a time.
class DeviceAnalyzer {
 public:
  // All outlive it; the budget pays for what it holds on the host. Failure(usage) as Analyzer's; OutOfMemory where the
  // budget has no room for a latent that the CPU measures.
  DeviceAnalyzer(const Shape& shape, const Selection& wanted, const Executor& executor, Accelerator& accelerator,
                 Budget& budget);
  ~DeviceAnalyzer();
  DeviceAnalyzer(const DeviceAnalyzer&) = delete;
  DeviceAnalyzer& operator=(const DeviceAnalyzer&) = delete;

  // Views as Analyzer::measure() takes them, or with memory of the accelerator's device, which begins at a multiple of
  // its numbers' size; of one type and next to each other they are measured together. They stay as they are meanwhile.
  // What the device cannot do, or did wrong, the CPU does. `out` has as many; it is filled anew. Failure(usage) for
  // other views, Failure(cancelled) where the executor is, Failure(unavailable) where the device is lost on which they
  // lie.
  void measure(std::span<const ArrayView> latents, std::span<Measures> out);
  const MeasuredLatents& counts() const;

  // What it holds from the start for a latent that the CPU measures.
  static Bytes bytes_on_cpu(const Shape& shape);
  // What a latent takes of the device's memory, with its values where those come from the host.
  static std::uint64_t device_bytes(const Shape& shape, const Selection& wanted, std::size_t value_bytes);
  // What the host holds for so many at once, on so many threads.
  static std::uint64_t host_bytes(const Shape& shape, const Selection& wanted, std::uint64_t latents, int threads);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace::latents
