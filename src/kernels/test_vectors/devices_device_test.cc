// Tests that the kernels for devices are what the registry declares.
#include "src/kernels/test_vectors/devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/device/devices_for_test.h"
#include "src/trace/trace.h"
#include "tests/support/gpu/ptx_lint.h"

namespace millrace::test_vectors {
namespace {

TEST(Ptx, EveryKernelIsWhatItDeclares) {
  for (const DeviceKernels& kernels : device_kernels()) {
    EXPECT_THAT(lint_ptx(kernels.source(), kernels.entries), testing::IsEmpty()) << kernels.source().name;
    EXPECT_EQ(kernels.source().hash.size(), 64U);
  }
}

class KnownAnswers : public testing::TestWithParam<TestDevice> {};

// Known answers are given with every kernel launched, and missed where one of the launches does nothing.
TEST_P(KnownAnswers, AreGivenByRightKernelsAlone) {
  Budget budget(1_GiB);
  Trace trace;
  for (const DeviceKernels& kernels : device_kernels()) {
    const auto prepare_kernels = [&] {
      Accelerator accelerator(GetParam().device, {VerifyMode::none, 16_MiB, 0}, budget, trace);
      return accelerator.prepare_kernels(kernels.source(), kernels.entries, kernels.test_vectors);
    };
    if (!GetParam().is_simulated()) {
      EXPECT_TRUE(prepare_kernels());
      continue;
    }
    std::uint64_t launches = 0;
    {
      const FakeCuda fake({GetParam().order, "", ""});
      EXPECT_TRUE(prepare_kernels());
      launches = fake.calls("launch");
    }
    EXPECT_GE(launches, kernels.entries.size());
    for (std::uint64_t n = 1; GetParam().order == "forward" && n <= launches; ++n) {
      const FakeCuda fake({GetParam().order, "launch:" + std::to_string(n) + "=wrong", ""});
      EXPECT_FALSE(prepare_kernels()) << "launch " << n << " of " << launches << " did nothing";
    }
  }
}

// Kernels agree with the CPU in rounds of growing inputs, and do not where one of the launches does nothing.
TEST_P(KnownAnswers, AndTheCpusInEveryRound) {
  if (GetParam().small_cases) GTEST_SKIP() << "its rounds take half a minute";
  Budget budget(1_GiB);
  Trace trace;
  const Executor executor(2);
  for (const DeviceKernels& kernels : device_kernels()) {
    SCOPED_TRACE(kernels.source().name);
    const auto agrees_with_cpu = [&](std::uint64_t round) {
      Accelerator accelerator(GetParam().device, {VerifyMode::none, 64_MiB, 0}, budget, trace);
      try {
        return kernels.agrees_with_cpu(accelerator, executor, round);
      } catch (const Failure& failure) {
        if (!is_device_failure(failure)) throw;
        return false;
      }
    };
    if (GetParam().order != "forward") {
      EXPECT_TRUE(agrees_with_cpu(1));
      continue;
    }
    for (std::uint64_t round = 1; round <= 4; ++round) EXPECT_TRUE(agrees_with_cpu(round)) << "round " << round;
    std::uint64_t launches = 0;
    {
      const FakeCuda fake;
      EXPECT_TRUE(agrees_with_cpu(1));
      launches = fake.calls("launch");
    }
    // Each try takes as long as a round.
    constexpr std::uint64_t kTried = 6;
    for (std::uint64_t n = 1; n <= launches; n += 1 + launches / kTried) {
      const FakeCuda fake({"forward", "launch:" + std::to_string(n) + "=wrong", ""});
      EXPECT_FALSE(agrees_with_cpu(1)) << "launch " << n << " of " << launches << " did nothing";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryDevice, KnownAnswers, testing::ValuesIn(devices_for_test()), device_test_name);

}  // namespace
}  // namespace millrace::test_vectors
