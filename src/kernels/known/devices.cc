#include "src/kernels/known/devices.h"

#include "src/kernels/hamming/hamming_entries.h"
#include "src/kernels/hamming/hamming_known.h"
#include "src/kernels/hamming/hamming_rates.h"

namespace millrace::known {
std::span<const DeviceKernels> device_kernels() {
  static const DeviceKernels all[] = {
      {bodies::hamming, hamming::kEntries, hamming::gives_known_answers, hamming::measure_rates},
  };
  return all;
}

}  // namespace millrace::known
