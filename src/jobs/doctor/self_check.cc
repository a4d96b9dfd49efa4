#include "src/jobs/doctor/self_check.h"

#include <fmt/format.h>

#include <exception>

#include "src/kernels/test_vectors/test_vectors.h"

namespace millrace::doctor {
namespace {

// Restores the CPU level that was in use, even if a step throws.
class CpuLevelGuard {
 public:
  CpuLevelGuard() : level_(current_cpu_level()) {}
  ~CpuLevelGuard() { use_cpu_level(level_); }
  CpuLevelGuard(const CpuLevelGuard&) = delete;
  CpuLevelGuard& operator=(const CpuLevelGuard&) = delete;

 private:
  CpuLevel level_;
};

}  // namespace

std::vector<SelfTestResult> run_self_test() {
  const CpuLevelGuard keep;
  const test_vectors::TestInputs inputs;
  const std::vector<test_vectors::KnownAnswer> answers = test_vectors::answers();
  std::vector<SelfTestResult> results;
  for (const CpuLevel level : available_cpu_levels()) {
    use_cpu_level(level);
    for (const test_vectors::KnownAnswer& test_vectors : answers) {
      SelfTestResult result{level, test_vectors.operation, test_vectors.expected, {}};
      try {
        result.got = test_vectors.give(inputs);
      } catch (const std::exception& e) {
        result.got = fmt::format("a failure: {}", e.what());
      }
      results.push_back(std::move(result));
    }
  }
  return results;
}

}  // namespace millrace::doctor
