#include "src/kernels/test_vectors/devices.h"

#include "src/kernels/chart/chart_entries.h"
#include "src/kernels/chart/chart_rates.h"
#include "src/kernels/chart/chart_test_vectors.h"
#include "src/kernels/hamming/hamming_entries.h"
#include "src/kernels/hamming/hamming_rates.h"
#include "src/kernels/hamming/hamming_test_vectors.h"
#include "src/kernels/hash/hash_entries.h"
#include "src/kernels/hash/hash_rates.h"
#include "src/kernels/hash/hash_test_vectors.h"
#include "src/kernels/latents/latents_entries.h"
#include "src/kernels/latents/latents_rates.h"
#include "src/kernels/latents/latents_test_vectors.h"
#include "src/kernels/rle_deflate/deflate_entries.h"
#include "src/kernels/rle_deflate/deflate_test_vectors.h"

namespace millrace::test_vectors {
std::span<const DeviceKernels> device_kernels() {
  static const DeviceKernels all[] = {
      {bodies::hamming, hamming::kEntries, hamming::gives_known_answers, hamming::agrees_with_cpu,
       hamming::measure_rates},
      {bodies::chart, chart::kEntries, chart::gives_known_answers, chart::agrees_with_cpu, chart::measure_rates},
      {bodies::deflate, rle_deflate::kEntries, rle_deflate::gives_known_answers, rle_deflate::agrees_with_cpu,
       chart::measure_stream_rates},
      {bodies::hash, hashes::kEntries, hashes::gives_known_answers, hashes::agrees_with_cpu, hashes::measure_rates},
      {bodies::latents, latents::kEntries, latents::gives_known_answers, latents::agrees_with_cpu,
       latents::measure_rates},
  };
  return all;
}

std::vector<std::string_view> device_kernel_hashes() {
  std::vector<std::string_view> out;
  for (const DeviceKernels& kernels : device_kernels()) out.push_back(kernels.source().hash);
  return out;
}

}  // namespace millrace::test_vectors
