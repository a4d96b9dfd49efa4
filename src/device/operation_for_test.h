// Input: an operation that devices and the CPU can do.
// Output: for each of its tests, a freshly opened device and checks of its state afterwards. There are also devices on
// which each call fails once.
// Never: depends on what the operation computes.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "src/device/cpu/executor.h"
#include "src/device/devices_for_test.h"
#include "src/trace/trace.h"

namespace millrace {

class OperationOnDevice : public testing::TestWithParam<TestDevice> {
 protected:
  explicit OperationOnDevice(Bytes memory) : memory_(memory) {}

  void SetUp() override {
    if (GetParam().is_simulated()) fake_.emplace(FakeCudaOptions{GetParam().order, "", ""});
    // Verification is off, so that errors show which the CPU would otherwise correct.
    open({VerifyMode::none, memory_, 0});
  }
  // Opens the device without known answers, which have their own test.
  void open(AcceleratorOptions options) {
    options.known_answers = false;
    accelerator_.emplace(GetParam().device, options, budget_, trace_);
  }
  void TearDown() override {
    EXPECT_FALSE(accelerator_->is_excluded()) << accelerator_->reason();
    EXPECT_GT(accelerator_->counts().batches, 0U) << "the device was not used " << accelerator_->fallback_reason();
    EXPECT_EQ(accelerator_->counts().fell_back, 0U);
    accelerator_.reset();
    if (fake_) {
      EXPECT_EQ(fake_->violations(), "");
      EXPECT_EQ(fake_->count("live"), 0U) << fake_->summary();
      EXPECT_EQ(fake_->count("streams") + fake_->count("events") + fake_->count("contexts"), 0U) << fake_->summary();
    }
    EXPECT_EQ(oclgrind_findings(), "");
    EXPECT_EQ(budget_.used().count, 0U);
  }

  // True for devices that are slow, because they vary the order of threads or check every access; they run fewer cases.
  static bool is_slow() {
#ifdef MILLRACE_SANITIZED
    return true;
#else
    return GetParam().small_cases || (GetParam().is_simulated() && GetParam().order != "forward");
#endif
  }

  const Bytes memory_;
  Budget budget_{1_GiB};
  Trace trace_;
  const Executor executor_{2};
  std::optional<FakeCuda> fake_;
  std::optional<Accelerator> accelerator_;
};

// Runs an operation with a faulty kernel body: its check must discard the result. cmake/tests.cmake plants such bodies
// and expects these tests to report them. With a correct body nothing is reported.
class CheckedOperation : public testing::Test {
 protected:
  // Opens the simulated device with batches of two items.
  void SetUp() override {
    if (std::getenv("MILLRACE_TEST_DEVICES") != nullptr) GTEST_SKIP() << "of the simulated driver";
    AcceleratorOptions options{VerifyMode::sample, 64_MiB, 2};
    options.known_answers = false;
    std::string reason;
    fake_.emplace();
    accelerator_.emplace(list_devices(DeviceKind::cuda, reason).at(0), options, budget_, trace_);
  }
  void TearDown() override {
    if (!accelerator_) return;
    EXPECT_FALSE(accelerator_->is_excluded()) << "struck out, and everything is the CPU's: " << accelerator_->reason();
    accelerator_.reset();
  }

  Budget budget_{1_GiB};
  Trace trace_;
  const Executor executor_{2};
  std::optional<FakeCuda> fake_;
  std::optional<Accelerator> accelerator_;
};

struct FailingCall {
  const char* call;
  const char* end;

  friend void PrintTo(const FailingCall& failing, std::ostream* out) { *out << failing.call << " " << failing.end; }
};
inline constexpr std::array kFailingCalls = {
    FailingCall{"alloc", "memory"},  FailingCall{"alloc", "lost"},    FailingCall{"copy", "memory"},
    FailingCall{"copy", "lost"},     FailingCall{"launch", "memory"}, FailingCall{"launch", "lost"},
    FailingCall{"launch", "late"},   FailingCall{"launch", "wrong"},  FailingCall{"stream", "memory"},
    FailingCall{"stream", "lost"},   FailingCall{"sync", "lost"},     FailingCall{"sync", "memory"},
    FailingCall{"pinned", "memory"}, FailingCall{"module", "lost"},   FailingCall{"event", "memory"}};

// A simulated device on which one call fails: the first time, the second time, and so on. Every allocation, copy and
// launch fails once. Other calls are skipped in growing steps; events more often, as they surround every other call.
class FailingOperation : public testing::TestWithParam<FailingCall> {
 protected:
  // The result of run(accelerator) must not show the failure.
  template <typename Run>
  void fail_each(AcceleratorOptions options, int every, const Run& run) {
    if (std::getenv("MILLRACE_TEST_DEVICES") != nullptr) GTEST_SKIP() << "real devices do not fail when told to";
    const auto [call, end] = GetParam();
    const std::string how = end;
    const std::string of = call;
    const bool all = of == "alloc" || of == "copy" || of == "launch";
    if (of == "event") every = std::min(every, 8);
    // The counted calls must be those of the run itself.
    options.known_answers = false;
    int reached = 0;
    for (int n = 1;; n += all ? 1 : 1 + n / every) {
      SCOPED_TRACE(fmt::format("{}:{}={}", call, n, end));
      const FakeCuda fake({"forward", fmt::format("{}:{}={}", call, n, end), ""});
      std::string reason;
      options.verify = n % 2 == 0 ? VerifyMode::all : VerifyMode::sample;
      Trace trace;
      const Device device = list_devices(DeviceKind::cuda, reason).at(0);
      run([&] { return std::make_unique<Accelerator>(device, options, budget_, trace); });
      if (HasFatalFailure()) return;
      // A kernel that did not run leaves data on which later kernels fail, and so a device is lost.
      if (how != "wrong") {
        ASSERT_EQ(fake.violations(), "");
      }
      // A lost device may still write to its memory, so that memory is never freed.
      if (how != "lost" && how != "late" && std::string(call) != "sync" && fake.violations().empty()) {
        ASSERT_EQ(fake.count("live"), 0U) << fake.summary();
      }
      if (fake.calls(call) < static_cast<std::uint64_t>(n)) break;
      ++reached;
    }
    EXPECT_GT(reached, 0);
  }

  Budget budget_{1_GiB};
  const Executor executor_{2};
};

inline std::string failing_test_name(const testing::TestParamInfo<FailingCall>& info) {
  return fmt::format("{}_{}", info.param.call, info.param.end);
}

}  // namespace millrace
