#include "src/jobs/doctor/self_check.h"

#include <gtest/gtest.h>

#include <set>

namespace millrace::doctor {
namespace {

TEST(SelfTest, EveryOperationGivesItsKnownAnswerAtEveryLevel) {
  const CpuLevel before = current_cpu_level();
  const auto results = run_self_test();
  EXPECT_EQ(current_cpu_level(), before);
  std::set<CpuLevel> levels;
  std::set<std::string> operations;
  for (const SelfTestResult& r : results) {
    EXPECT_EQ(r.got, r.expected) << r.operation << " at level " << name_of(r.level);
    levels.insert(r.level);
    operations.insert(r.operation);
  }
  EXPECT_EQ(levels.size(), available_cpu_levels().size());
  EXPECT_EQ(results.size(), levels.size() * operations.size());
}

TEST(SelfTest, AWrongAnswerDoesNotPass) {
  EXPECT_FALSE((SelfTestResult{CpuLevel::baseline, "luma", "1", "2"}.passed()));
  EXPECT_TRUE((SelfTestResult{CpuLevel::baseline, "luma", "1", "1"}.passed()));
}

}  // namespace
}  // namespace millrace::doctor
