#include "src/device/cpu/cpu_level.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cstdlib>

#include "src/base/error.h"

namespace millrace {
namespace {

constexpr CpuLevel kAll[] = {CpuLevel::baseline, CpuLevel::avx2, CpuLevel::avx512, CpuLevel::neon};

// Restores the level and the variable after each test.
class Level : public testing::Test {
 protected:
  Level() {
    if (const char* value = std::getenv("MILLRACE_CPU")) variable_ = value;
  }
  ~Level() override {
    use_cpu_level(level_);
    variable_.empty() ? ::unsetenv("MILLRACE_CPU") : ::setenv("MILLRACE_CPU", variable_.c_str(), 1);
  }

 private:
  CpuLevel level_ = current_cpu_level();
  std::string variable_;
};

TEST_F(Level, NamesAreReadBack) {
  for (const CpuLevel level : kAll) EXPECT_EQ(parse_cpu_level(name_of(level)), level);
  EXPECT_EQ(parse_cpu_level("AVX2"), std::nullopt);
  EXPECT_EQ(parse_cpu_level(""), std::nullopt);
}

TEST_F(Level, TheListIsSlowestFirstAndNotEmpty) {
  const auto levels = available_cpu_levels();
  ASSERT_FALSE(levels.empty());
  EXPECT_TRUE(std::is_sorted(levels.begin(), levels.end()));
#if HWY_ARCH_X86
  EXPECT_EQ(levels.front(), CpuLevel::baseline);
  EXPECT_THAT(levels, testing::Not(testing::Contains(CpuLevel::neon)));
#else
  EXPECT_THAT(levels, testing::ElementsAre(CpuLevel::neon));
#endif
}

TEST_F(Level, ForcingLeavesHighwayOnlyThatLevel) {
  for (const CpuLevel level : available_cpu_levels()) {
    SCOPED_TRACE(name_of(level));
    use_cpu_level(level);
    EXPECT_EQ(current_cpu_level(), level);
    const std::int64_t targets = hwy::SupportedTargets();
    EXPECT_EQ((targets & HWY_AVX2) != 0, level == CpuLevel::avx2);
    EXPECT_EQ((targets & HWY_AVX3) != 0, level == CpuLevel::avx512);
    EXPECT_EQ((targets & HWY_NEON) != 0, level == CpuLevel::neon);
    // The list describes the machine, independent of the forced level.
    EXPECT_THAT(available_cpu_levels(), testing::Contains(level));
  }
}

TEST_F(Level, AMissingLevelIsAnErrorThatListsWhatIsHere) {
  const auto here = available_cpu_levels();
  for (const CpuLevel level : kAll) {
    if (std::find(here.begin(), here.end(), level) != here.end()) continue;
    const CpuLevel before = current_cpu_level();
    try {
      use_cpu_level(level);
      ADD_FAILURE() << name_of(level) << " was accepted";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.error().code, ErrorCode::unavailable);
      EXPECT_THAT(failure.error().what, testing::HasSubstr(name_of(level)));
      for (const CpuLevel known : here) EXPECT_THAT(failure.error().remedy, testing::HasSubstr(name_of(known)));
    }
    EXPECT_EQ(current_cpu_level(), before);
  }
}

TEST_F(Level, TheVariableChooses) {
  for (const CpuLevel level : available_cpu_levels()) {
    ::setenv("MILLRACE_CPU", name_of(level), 1);
    use_cpu_level_from_environment();
    EXPECT_EQ(current_cpu_level(), level);
  }
  const CpuLevel before = current_cpu_level();
  ::setenv("MILLRACE_CPU", "", 1);
  use_cpu_level_from_environment();
  ::unsetenv("MILLRACE_CPU");
  use_cpu_level_from_environment();
  EXPECT_EQ(current_cpu_level(), before);
}

TEST_F(Level, AnUnknownNameIsWrongUsage) {
  ::setenv("MILLRACE_CPU", "avx9", 1);
  try {
    use_cpu_level_from_environment();
    ADD_FAILURE() << "avx9 was accepted";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, ErrorCode::usage);
    EXPECT_EQ(failure.error().subject, "MILLRACE_CPU");
    EXPECT_THAT(failure.error().what, testing::HasSubstr("avx9"));
    EXPECT_THAT(failure.error().remedy, testing::HasSubstr("baseline, avx2, avx512 or neon"));
  }
}

}  // namespace
}  // namespace millrace
