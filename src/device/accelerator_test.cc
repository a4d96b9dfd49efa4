// Tests of a device opened for a run with the simulated driver: who is tested, how often, and what is reported.
#include "src/device/accelerator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "src/device/devices_for_test.h"
#include "src/device/queue.h"

namespace millrace {
namespace {

constexpr KernelEntry kNone{"nothing", 1, 0, ""};
constexpr KernelSource kSource{"made up", "", "", "", false, false, ""};

class OneDevice : public testing::Test {
 protected:
  Device device() const {
    std::string reason;
    return list_devices(DeviceKind::cuda, reason).at(0);
  }
  FakeCuda fake_;
  Budget budget_{64_MiB};
  Trace trace_;
};

TEST_F(OneDevice, KnownAnswersAreAskedForOnceWhoeverComes) {
  Accelerator accelerator(device(), {}, budget_, trace_);
  std::atomic<int> asked{0}, prepare_kernels{0};
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      prepare_kernels += accelerator.prepare_kernels(kSource, {}, [&](Accelerator& one) {
        ++asked;
        // The counts of a known-answer test must not be added to the run's.
        DeviceCounts counts;
        counts.batches = 7;
        one.add(counts);
        return true;
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(prepare_kernels, 8);
  EXPECT_EQ(accelerator.counts().batches, 0U);
}

// A fault of the device is reported once, to the code that attested it; lack of memory is not reported.
TEST_F(OneDevice, AFaultIsReportedOnce) {
  int reports = 0;
  AcceleratorOptions options;
  options.on_fault = [&](const Device& failed) {
    ++reports;
    EXPECT_EQ(failed.uuid, device().uuid);
  };
  Accelerator short_of_memory(device(), options, budget_, trace_);
  short_of_memory.exclude_device("no memory", false);
  EXPECT_EQ(reports, 0);
  Accelerator wrong(device(), options, budget_, trace_);
  EXPECT_FALSE(wrong.prepare_kernels(kSource, {}, [](Accelerator&) { return false; }));
  wrong.exclude_device("again");
  EXPECT_EQ(reports, 1);
}

TEST_F(OneDevice, WrongAnswersStrikeItOutForAll) {
  Accelerator accelerator(device(), {}, budget_, trace_);
  EXPECT_FALSE(accelerator.prepare_kernels(kSource, {}, [](Accelerator&) { return false; }));
  EXPECT_TRUE(accelerator.is_excluded());
  EXPECT_THAT(accelerator.reason(), testing::HasSubstr("did not give their known answer"));
  const KernelSource other{"another", "", "", "", false, false, ""};
  EXPECT_FALSE(accelerator.prepare_kernels(other, {}, [](Accelerator&) { return true; }));
}

TEST_F(OneDevice, MemoryThatIsShortIsNoWrongAnswer) {
  Accelerator accelerator(device(), {}, budget_, trace_);
  int asked = 0;
  EXPECT_FALSE(accelerator.prepare_kernels(kSource, {}, [&](Accelerator& one) {
    ++asked;
    DeviceCounts counts;
    counts.halved = 1;
    one.add(counts);
    return false;
  }));
  EXPECT_GT(asked, 1) << "others may have had it for a moment";
  EXPECT_FALSE(accelerator.is_excluded());
  EXPECT_THAT(accelerator.fallback_reason(), testing::HasSubstr("its memory ("));
}

// A right answer that was not computed by the kernels proves nothing about them.
TEST_F(OneDevice, KernelsThatWereNotLaunchedAreNotKnown) {
  const KernelSource source{"made up",
                            ".version 6.3\n.visible .entry probe_count(\n.param .u64 a,\n.param .u32 b,\n.param .u64 "
                            "c,\n.param .u64 d\n)\n",
                            "",
                            "x",
                            false,
                            false,
                            ""};
  const KernelEntry entry{"probe_count", 64, 64, "p4pp"};
  Accelerator accelerator(device(), {}, budget_, trace_);
  EXPECT_FALSE(accelerator.prepare_kernels(source, std::span(&entry, 1), [](Accelerator&) { return true; }));
}

// A source that this driver cannot compile does not exclude other sources.
TEST_F(OneDevice, WhatIsNotCompiledIsNotUsedAlone) {
  Accelerator accelerator(device(), {}, budget_, trace_);
  EXPECT_FALSE(accelerator.prepare_kernels(kSource, std::span(&kNone, 1), [](Accelerator&) { return true; }));
  EXPECT_FALSE(accelerator.is_excluded());
  EXPECT_THAT(accelerator.fallback_reason(), testing::HasSubstr("built without clang"));
  const KernelSource other{"another", "", "", "", false, false, ""};
  EXPECT_TRUE(accelerator.prepare_kernels(other, {}, [](Accelerator&) { return true; }));
}

TEST_F(OneDevice, NobodyAttestedItMeansItIsNotUsedUnasked) {
  AcceleratorOptions options;
  options.asked = false;
  Accelerator accelerator(device(), options, budget_, trace_);
  EXPECT_FALSE(accelerator.is_allowed(kSource));
  EXPECT_FALSE(accelerator.prepare_kernels(kSource, {}, [](Accelerator&) { return true; }));
  EXPECT_EQ(fake_.count("contexts"), 0U) << "it is not even opened";
}

}  // namespace
}  // namespace millrace
