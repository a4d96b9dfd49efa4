#include "src/kernels/known/devices.h"

#include "src/kernels/hamming/hamming_entries.h"
#include "src/kernels/hamming/hamming_known.h"
#include "src/kernels/hamming/hamming_rates.h"

namespace millrace::known {
namespace {

std::vector<Measured> measure_hamming(Accelerator& accelerator, const Executor& executor) {
  std::vector<Measured> out;
  for (const hamming::MeasuredRate& rate : hamming::measure_rates(accelerator, executor)) {
    out.push_back({rate.operation, rate.unit, rate.device_amount_s, rate.cpu_amount_s});
  }
  return out;
}

}  // namespace

std::span<const DeviceKernels> device_kernels() {
  static const DeviceKernels all[] = {
      {bodies::hamming, hamming::kEntries, hamming::gives_known_answers, measure_hamming},
  };
  return all;
}

}  // namespace millrace::known
