#include "src/jobs/doctor/known_answers.h"

#include <fmt/format.h>

#include <exception>

#include "src/kernels/known/known.h"

namespace millrace::doctor {
namespace {

// Restores the CPU level that was in use, even if a step throws.
class KeepLevel {
 public:
  KeepLevel() : level_(current_cpu_level()) {}
  ~KeepLevel() { use_cpu_level(level_); }
  KeepLevel(const KeepLevel&) = delete;
  KeepLevel& operator=(const KeepLevel&) = delete;

 private:
  CpuLevel level_;
};

}  // namespace

std::vector<SelfTestResult> run_self_test() {
  const KeepLevel keep;
  const known::Inputs inputs;
  const std::vector<known::Answer> answers = known::answers();
  std::vector<SelfTestResult> results;
  for (const CpuLevel level : available_cpu_levels()) {
    use_cpu_level(level);
    for (const known::Answer& known : answers) {
      SelfTestResult result{level, known.operation, known.expected, {}};
      try {
        result.got = known.give(inputs);
      } catch (const std::exception& e) {
        result.got = fmt::format("a failure: {}", e.what());
      }
      results.push_back(std::move(result));
    }
  }
  return results;
}

}  // namespace millrace::doctor
