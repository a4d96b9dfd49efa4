// Input: latents of a diffusion model, or what was measured of groups of them, in memory.
// Output: what is measured of a latent; how much groups differ, and how probable that is where nothing does.
// Never: reads or writes a file, or keeps what it was given.
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

// A number, or a list of them, by its name in docs/latents.md.
struct NamedNumber {
  std::string_view name;
  double value = std::numeric_limits<double>::quiet_NaN();  // NaN: the shape or the content does not define it
};
struct NamedNumbers {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<double> values;
};

struct LatentMeasures {
  std::vector<NamedNumber> metrics;         // one number a metric, in the order of docs/latents.md
  std::vector<NamedNumbers> distributions;  // what they are means of: [channels, frames] and others; those there are
  // Elements that are NaN or infinite. Where there are any nothing else is measured.
  std::uint64_t not_finite = 0;
};

struct LatentOptions {
  int threads = 0;  // of measure_all(); 0 or less: one a core that this process may run on
  // What measures: cpu; cuda[:N] or opencl[:N]; auto: latents in a device's memory that device, where hardware has
  // attested its kernels (docs/gpu.md), else the CPU. What a device cannot do, or did wrong, the CPU does.
  std::string device = "auto";
  // Latents that a device measured and the CPU measures as well before a call returns: all; sample: of each batch the
  // first, the last and one in 256; none.
  std::string verify_device = "sample";
  std::uint64_t device_memory = 0;  // the most of a device's, in bytes, beside arrays; 0: 90 % of what is free
};

// What devices did for a measurer so far, in latents.
struct LatentDeviceUse {
  std::string device;          // "cuda:0 (NVIDIA H200)"; empty: no latents were given to one
  std::uint64_t measured = 0;  // by it
  std::uint64_t compared = 0;  // of them with the CPU's
  std::uint64_t by_cpu = 0;    // by the CPU in its place
  std::string why;             // "cuda:0: ..." why some or all are the CPU's; empty where none is
};

// Measures latents one by one, or many together; keeps memory for the last shape. One thread at a time; several
// measurers do not see each other.
class MILLRACE_API LatentMeasurer {
 public:
  LatentMeasurer();
  // Throws Failure(usage) for a device's name that is none, (unavailable) where there is no such device.
  explicit LatentMeasurer(const LatentOptions& options);
  ~LatentMeasurer();
  LatentMeasurer(LatentMeasurer&&) noexcept;
  LatentMeasurer& operator=(LatentMeasurer&&) noexcept;

  // [channels, frames, height, width], or [channels, height, width] of an image model, with one more axis of 1 in front
  // or not; float16, bfloat16, float32 or float64, which is rounded to float32; in host memory, with any strides. Up to
  // 128 channels, 4,096 frames, sides of 4,096. Or float16 or float32, row after row, in memory of a CUDA device
  // (MemoryKind::device, and in `device` CUDA's number of it), as cudaMalloc and PyTorch allocate it: in this process's
  // primary context, at a multiple of the numbers' size, and with nothing under way in it. Throws Failure(usage) that
  // names type and shape, or says what is wrong with the memory; Failure(cancelled) where `cancel` says so, which is
  // looked at between channels and planes of a latent, on a device between latents.
  LatentMeasures measure(const ArrayView& latent, const CancelToken* cancel = nullptr);
  // The same of each of [latents, channels, frames, height, width], on all threads. A device measures as many at once
  // as fit: one by one they are far slower there.
  std::vector<LatentMeasures> measure_all(const ArrayView& latents, const CancelToken* cancel = nullptr);

  LatentDeviceUse device_use() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct CompareOptions {
  std::uint64_t seed = 0;
  std::uint32_t shuffles = 10'000, replicates = 10'000;  // of permutations, of bootstrap intervals
  int threads = 0;                                       // 0 or less: one a core that this process may run on
  const CancelToken* cancel = nullptr;                   // looked at until the call returns
};

// Two groups in one column. Differences, t, d, g and the interval are of `first` less `second`. NaN where there is too
// little to say, as `reason` tells.
struct GroupDifference {
  std::size_t first = 0, second = 0, column = 0;
  std::array<std::size_t, 2> count{};  // rows that have a value
  std::array<double, 2> mean{}, deviation{};
  double t = 0, degrees_of_freedom = 0, p = 0;  // Welch
  double cohens_d = 0, hedges_g = 0;
  double u = 0, p_mann_whitney = 0;
  double p_permutation = 0;  // rows dealt anew
  // Corrected for all pairs and columns: by permutations (docs/latents.md); Holm and Benjamini-Hochberg of `p`.
  double p_familywise = 0, p_holm = 0, p_benjamini_hochberg = 0;
  // 95 %, of the difference of means: by Welch's t; percentiles of a bootstrap, too narrow of few rows.
  std::array<double, 2> interval{}, bootstrap_interval{};
  std::string reason;  // why there is no p; else empty
};

// `values` is [rows, columns], float64, row after row, NaN where absent: a row a video, a column a thing that was
// measured; `groups` says which group each row is of, from 0 on without gaps. By pair of groups, then by column. Throws
// Failure that says what does not fit, and ErrorCode::cancelled where it was stopped.
MILLRACE_API std::vector<GroupDifference> compare_groups(const ArrayView& values,
                                                         const std::vector<std::uint32_t>& groups,
                                                         const CompareOptions& options = {});

}  // namespace millrace
