#include "src/jobs/doctor/attest.h"

#include <fmt/format.h>

#include "src/device/accelerator.h"
#include "src/kernels/known/devices.h"
#include "src/trace/trace.h"

namespace millrace::doctor {
namespace {

constexpr Bytes kHostMemory = 4_GiB;

// Returns the reason why a trial failed. A device that only ran out of memory is not blamed for a wrong answer.
std::string why_not(const Accelerator& accelerator, std::uint64_t halved_before, const std::string& otherwise) {
  if (accelerator.struck_out()) return accelerator.reason();
  if (accelerator.counts().halved > halved_before) return "its memory did not hold what it was asked";
  const std::string left = accelerator.why_left();
  return left.empty() ? otherwise : left;
}

class Trying {
 public:
  Trying(const Device& device, const known::DeviceKernels& kernels, const Executor& executor)
      : device_(device), kernels_(kernels), executor_(executor) {}

  Trial run(std::uint64_t rounds) {
    out_.source = kernels_.source().name;
    out_.hash = kernels_.source().hash;
    try {
      out_.right = agrees(rounds);
    } catch (const OutOfMemory& none) {
      out_.why = none.error().what;
    } catch (const Failure& failure) {
      if (failure.error().code == ErrorCode::cancelled) throw;
      out_.why = failure.error().what;
    }
    return std::move(out_);
  }

 private:
  bool agrees(std::uint64_t rounds) {
    AcceleratorOptions options;
    options.verify = Verify::none;
    Accelerator accelerator(device_, options, budget_, trace_);
    if (!accelerator.ready(kernels_.source(), kernels_.entries, kernels_.known)) {
      out_.why = why_not(accelerator, 0, "it cannot be used");
      return false;
    }
    for (std::uint64_t round = 1; round <= rounds; ++round) {
      const std::uint64_t halved = accelerator.counts().halved;
      const bool right = kernels_.agrees(accelerator, executor_, round);
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
    if (executor_.cancelled()) throw Failure(interrupted("the card that was tried is not attested"));
  }

  const Device& device_;
  const known::DeviceKernels& kernels_;
  const Executor& executor_;
  Budget budget_{kHostMemory};
  Trace trace_;
  Trial out_;
};

}  // namespace

std::vector<Trial> try_out(const Device& device, const Executor& executor, std::uint64_t rounds) {
  std::vector<Trial> out;
  for (const known::DeviceKernels& kernels : known::device_kernels()) {
    out.push_back(Trying(device, kernels, executor).run(rounds));
  }
  return out;
}

}  // namespace millrace::doctor
