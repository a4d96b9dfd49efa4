#include "src/jobs/doctor/attest.h"

#include <fmt/format.h>

#include "src/device/accelerator.h"
#include "src/kernels/test_vectors/devices.h"
#include "src/trace/trace.h"

namespace millrace::doctor {
namespace {

constexpr Bytes kHostMemory = 4_GiB;

// Returns the reason why a trial failed. A device that only ran out of memory is not blamed for a wrong answer.
std::string why_not(const Accelerator& accelerator, std::uint64_t halved_before, const std::string& otherwise) {
  if (accelerator.is_excluded()) return accelerator.reason();
  if (accelerator.counts().halved > halved_before) return "the test did not fit in its memory";
  const std::string left = accelerator.fallback_reason();
  return left.empty() ? otherwise : left;
}

class KernelTester {
 public:
  KernelTester(const Device& device, const test_vectors::DeviceKernels& kernels, const Executor& executor)
      : device_(device), kernels_(kernels), executor_(executor) {}

  KernelTrial run(std::uint64_t rounds) {
    out_.source = kernels_.source().name;
    out_.hash = kernels_.source().hash;
    try {
      out_.right = agrees_with_cpu(rounds);
    } catch (const OutOfMemory& none) {
      out_.why = none.error().what;
    } catch (const Failure& failure) {
      if (failure.error().code == ErrorCode::cancelled) throw;
      out_.why = failure.error().what;
    }
    return std::move(out_);
  }

 private:
  bool agrees_with_cpu(std::uint64_t rounds) {
    AcceleratorOptions options;
    options.verify = VerifyMode::none;
    Accelerator accelerator(device_, options, budget_, trace_);
    if (!accelerator.prepare_kernels(kernels_.source(), kernels_.entries, kernels_.test_vectors)) {
      out_.why = why_not(accelerator, 0, "it cannot be used");
      return false;
    }
    for (std::uint64_t round = 1; round <= rounds; ++round) {
      const std::uint64_t halved = accelerator.counts().halved;
      const bool right = kernels_.agrees_with_cpu(accelerator, executor_, round);
      throw_if_cancelled();
      if (!right) {
        out_.why = why_not(accelerator, halved, fmt::format("it gave another answer than the CPU in round {}", round));
        return false;
      }
    }
    return true;
  }

  // Throws if the run was cancelled: cancelled work was not compared.
  void throw_if_cancelled() const {
    if (executor_.cancelled()) throw Failure(interrupted("the card under test is not attested"));
  }

  const Device& device_;
  const test_vectors::DeviceKernels& kernels_;
  const Executor& executor_;
  Budget budget_{kHostMemory};
  Trace trace_;
  KernelTrial out_;
};

}  // namespace

std::vector<KernelTrial> test_kernels(const Device& device, const Executor& executor, std::uint64_t rounds) {
  std::vector<KernelTrial> out;
  for (const test_vectors::DeviceKernels& kernels : test_vectors::device_kernels()) {
    out.push_back(KernelTester(device, kernels, executor).run(rounds));
  }
  return out;
}

}  // namespace millrace::doctor
