// The registry of kernels for devices: what each declares is so.
#include "src/kernels/known/devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/device/devices_for_test.h"
#include "src/trace/trace.h"
#include "tests/support/gpu/ptx_lint.h"

namespace millrace::known {
namespace {

TEST(Ptx, EveryKernelIsWhatItDeclares) {
  for (const DeviceKernels& kernels : device_kernels()) {
    EXPECT_THAT(lint_ptx(kernels.source(), kernels.entries), testing::IsEmpty()) << kernels.source().name;
    EXPECT_EQ(kernels.source().hash.size(), 64U);
  }
}

class KnownAnswers : public testing::TestWithParam<TestDevice> {};

// Given, with every kernel launched; and missed where one launch of them all does nothing.
TEST_P(KnownAnswers, AreGivenByRightKernelsAlone) {
  Budget budget(1_GiB);
  Trace trace;
  for (const DeviceKernels& kernels : device_kernels()) {
    const auto ready = [&] {
      Accelerator accelerator(GetParam().device, {Verify::none, 16_MiB, 0}, budget, trace);
      return accelerator.ready(kernels.source(), kernels.entries, kernels.known);
    };
    if (!GetParam().simulated()) {
      EXPECT_TRUE(ready());
      continue;
    }
    std::uint64_t launches = 0;
    {
      const FakeCuda fake({GetParam().order, "", ""});
      EXPECT_TRUE(ready());
      launches = fake.calls("launch");
    }
    EXPECT_GE(launches, kernels.entries.size());
    for (std::uint64_t n = 1; GetParam().order == "forward" && n <= launches; ++n) {
      const FakeCuda fake({GetParam().order, "launch:" + std::to_string(n) + "=wrong", ""});
      EXPECT_FALSE(ready()) << "launch " << n << " of " << launches << " did nothing";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryDevice, KnownAnswers, testing::ValuesIn(devices_for_test()), device_test_name);

}  // namespace
}  // namespace millrace::known
