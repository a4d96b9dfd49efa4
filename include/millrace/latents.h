// Input: latents of a diffusion model, or measurements of groups of latents, in memory.
// Output: measurements of a latent; differences between groups, and how probable they are if the groups do not differ.
// Never: reads or writes a file, or keeps the caller's data.
//
// Definitions: docs/latents.md. The numbers are those of `millrace latents`, bit for bit, for any number of threads and
// on any CPU.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/array.h"
#include "millrace/cancel.h"
#include "millrace/error.h"
#include "millrace/export.h"

namespace millrace {

// A number, or a list of numbers, with its name in docs/latents.md.
struct NamedNumber {
  std::string_view name;
  double value = std::numeric_limits<double>::quiet_NaN();  // NaN: undefined for this shape or content
};
struct NamedNumbers {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<double> values;
};

struct LatentMeasures {
  std::vector<NamedNumber> metrics;         // one number per metric, in the order of docs/latents.md
  std::vector<NamedNumbers> distributions;  // values whose means are metrics: [channels, frames] etc., if defined
  // Number of elements that are NaN or infinite. If it is not 0, nothing else is measured.
  std::uint64_t not_finite = 0;
};

struct LatentOptions {
  int threads = 0;  // for measure_all(); 0 or less: one per core that this process may run on
  // Device that measures: cpu, cuda[:N], opencl[:N] or auto. auto: latents in a device's memory are measured by that
  // device if its kernels are attested on this hardware (docs/gpu.md), otherwise by the CPU. The CPU replaces a device
  // that cannot do a measurement or got it wrong.
  std::string device = "auto";
  // Latents measured by a device that the CPU measures again for comparison before a call returns: all, sample or none.
  // sample: the first, the last and one in 256 of each batch.
  std::string verify_device = "sample";
  std::uint64_t device_memory = 0;  // maximum of device memory in bytes, besides arrays; 0: 90 % of the free memory
};

// Use of devices by a measurer so far, in latents.
struct LatentDeviceUse {
  std::string device;          // "cuda:0 (NVIDIA H200)"; empty: no latents were given to a device
  std::uint64_t measured = 0;  // by the device
  std::uint64_t compared = 0;  // of those, compared with the CPU's results
  std::uint64_t by_cpu = 0;    // measured by the CPU instead
  std::string why;             // "cuda:0: ...": reason why the CPU measured some or all; empty if it did not
};

// Measures latents one by one, or many together; keeps memory for the last shape. Each measurer may be used by one
// thread at a time; several measurers are independent.
class MILLRACE_API LatentMeasurer {
 public:
  LatentMeasurer();
  // Throws Failure(usage) for an invalid device name, Failure(unavailable) if there is no such device.
  explicit LatentMeasurer(const LatentOptions& options);
  ~LatentMeasurer();
  LatentMeasurer(LatentMeasurer&&) noexcept;
  LatentMeasurer& operator=(LatentMeasurer&&) noexcept;

  // Measures a latent: [channels, frames, height, width], or [channels, height, width] of an image model, with or
  // without one more axis of size 1 in front. In host memory it is float16, bfloat16, float32 or float64 (rounded to
  // float32), with any strides. The limits are 128 channels, 4,096 frames and sides of 4,096.
  //
  // In memory of a CUDA device it is float16 or float32, row after row, allocated as by cudaMalloc or PyTorch. `memory`
  // is then MemoryKind::device, and `device` is CUDA's device number. The memory must belong to this process's primary
  // context and be aligned to the size of a number, with no work pending on it.
  //
  // Throws Failure(usage) with the type and shape, or with the fault of the memory. Throws Failure(cancelled) if
  // `cancel` is set. It is polled between channels and planes of a latent; on a device, between latents.
  LatentMeasures measure(const ArrayView& latent, const CancelToken* cancel = nullptr);
  // Measures each latent of [latents, channels, frames, height, width], on all threads. A device measures as many at
  // once as fit in its memory, as single latents are far slower there.
  std::vector<LatentMeasures> measure_all(const ArrayView& latents, const CancelToken* cancel = nullptr);

  LatentDeviceUse device_use() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct CompareOptions {
  std::uint64_t seed = 0;
  std::uint32_t shuffles = 10'000, replicates = 10'000;  // number of permutations, and of bootstrap samples
  int threads = 0;                                       // 0 or less: one per core that this process may run on
  const CancelToken* cancel = nullptr;                   // polled until the call returns
};

// Comparison of two groups in one column. Differences, t, d, g and the interval are `first` minus `second`. Values are
// NaN if there are too few rows, as `reason` explains.
struct GroupDifference {
  std::size_t first = 0, second = 0, column = 0;
  std::array<std::size_t, 2> count{};  // number of rows that have a value
  std::array<double, 2> mean{}, deviation{};
  double t = 0, degrees_of_freedom = 0, p = 0;  // Welch's test
  double cohens_d = 0, hedges_g = 0;
  double u = 0, p_mann_whitney = 0;
  double p_permutation = 0;  // permutation test
  // p-values corrected for all pairs and columns: by permutations (docs/latents.md), and by Holm and Benjamini-Hochberg
  // from `p`.
  double p_familywise = 0, p_holm = 0, p_benjamini_hochberg = 0;
  // 95 % intervals of the difference of means: by Welch's t, and bootstrap percentiles, which are too narrow for few
  // rows.
  std::array<double, 2> interval{}, bootstrap_interval{};
  std::string reason;  // reason why there is no p; otherwise empty
};

// Compares groups. `values` is [rows, columns], float64, row after row, NaN if absent: a row per video, a column per
// measurement. `groups` has the group of each row, numbered from 0 without gaps. Results are ordered by pair of groups,
// then by column. Throws Failure that describes invalid input, and ErrorCode::cancelled if it was stopped.
MILLRACE_API std::vector<GroupDifference> compare_groups(const ArrayView& values,
                                                         const std::vector<std::uint32_t>& groups,
                                                         const CompareOptions& options = {});

}  // namespace millrace
