// Tests of batched work on an invented device, which opens no driver.
#include "src/device/batches.h"

#include <gtest/gtest.h>

#include <numeric>

namespace millrace {
namespace {

using Numbers = std::vector<std::uint64_t>;

// Squares of numbers. `device` makes a batch fail or changes its result.
struct Squares {
  explicit Squares(VerifyMode verify) : accelerator(Device{}, {verify, {}, 0}, budget, trace) {
    work.items = 1000;
    work.most = 100;
    work.checked = 10;
    work.cut = [this](std::uint64_t begin, std::uint64_t amount) { return std::min(work.items, begin + amount); };
    work.on_cpu = [this](std::uint64_t begin, std::uint64_t end) {
      by_cpu += end - begin;
      return squares(begin, end);
    };
    work.on_device = [this](std::uint64_t begin, std::uint64_t end) {
      Numbers out = squares(begin, end);
      ++launches;
      device(begin, end, out);
      return out;
    };
    work.same = [](const Numbers& x, const Numbers& y) { return x == y; };
    work.keep = [this](const Numbers& part) { kept.insert(kept.end(), part.begin(), part.end()); };
    work.keep_by_cpu = [this](std::uint64_t begin, std::uint64_t end) { work.keep(squares(begin, end)); };
    work.weight = [](const Numbers& part) { return part.size(); };
    work.max_waiting = 100'000;
    work.advance = [this](std::uint64_t more) { advanced += more; };
  }
  static Numbers squares(std::uint64_t begin, std::uint64_t end) {
    Numbers out(end - begin);
    for (std::uint64_t i = begin; i < end; ++i) out[i - begin] = i * i;
    return out;
  }
  void run() {
    run_batches(accelerator, work);
    EXPECT_EQ(advanced, work.items);
  }
  void expect_right() const { EXPECT_EQ(kept, squares(0, work.items)); }

  Budget budget{1_MiB};
  Trace trace;
  Accelerator accelerator;
  BatchedWork<Numbers> work;
  std::function<void(std::uint64_t begin, std::uint64_t end, Numbers&)> device = [](auto, auto, Numbers&) {};
  Numbers kept;
  std::uint64_t launches = 0, by_cpu = 0, advanced = 0;
};

TEST(Batches, ADeviceDoesTheWorkAndSomeIsChecked) {
  Squares squares(VerifyMode::sample);
  squares.run();
  squares.expect_right();
  const DeviceCounts counts = squares.accelerator.counts();
  EXPECT_EQ(counts.batches, 11U) << "the first is a small one";
  EXPECT_EQ(counts.verified, 2U) << "the first and the last";
  EXPECT_EQ(counts.fell_back, 0U);
}

TEST(Batches, AllOrNothingIsCheckedOnRequest) {
  Squares all(VerifyMode::all), none(VerifyMode::none);
  all.run();
  none.run();
  all.expect_right();
  none.expect_right();
  EXPECT_EQ(all.by_cpu, 1000U);
  EXPECT_EQ(none.by_cpu, 0U);
}

TEST(Batches, AWrongAnswerIsSeen) {
  for (const bool last : {false, true}) {
    Squares squares(VerifyMode::sample);
    squares.device = [last](std::uint64_t begin, std::uint64_t end, Numbers& out) {
      if (last ? end == 1000 : begin == 0) out.back() += 1;
    };
    squares.run();
    squares.expect_right();
    EXPECT_TRUE(squares.accelerator.is_excluded());
    EXPECT_EQ(squares.accelerator.reason(), "it gave another answer than the CPU");
  }
}

// The device is wrong from the third batch on, and is excluded for another reason before a comparison.
TEST(Batches, WhatWasNotCheckedIsDoneAgain) {
  for (const bool lost : {true, false}) {
    Squares squares(VerifyMode::sample);
    squares.device = [&](std::uint64_t begin, std::uint64_t, Numbers& out) {
      if (begin >= 110) out.front() += 1;
      if (begin < 500) return;
      if (lost) throw DeviceLost(ErrorCode::unavailable, "it is gone");
      throw Failure(ErrorCode::internal, "it left out a part of its work");
    };
    squares.run();
    squares.expect_right();
    EXPECT_TRUE(squares.accelerator.is_excluded());
  }
}

TEST(Batches, MemoryThatIsShortMakesThemSmallerAndLargerAgain) {
  Squares squares(VerifyMode::none);
  std::uint64_t largest_late = 0;
  squares.device = [&](std::uint64_t begin, std::uint64_t end, Numbers&) {
    if (begin < 300 && end - begin > 20) throw OutOfMemory(ErrorCode::out_of_memory, "full");
    if (begin > 800) largest_late = std::max(largest_late, end - begin);
  };
  squares.run();
  squares.expect_right();
  EXPECT_GE(squares.accelerator.counts().halved, 3U);
  EXPECT_GT(largest_late, 20U);
  EXPECT_FALSE(squares.accelerator.is_excluded());
}

TEST(Batches, WhatFitsInNoSizeIsTheCpus) {
  Squares squares(VerifyMode::sample);
  squares.device = [](std::uint64_t begin, std::uint64_t end, Numbers&) {
    if (begin <= 500 && end > 500) throw OutOfMemory(ErrorCode::out_of_memory, "full");
  };
  squares.run();
  squares.expect_right();
  EXPECT_EQ(squares.accelerator.counts().fell_back, 1U);
  EXPECT_FALSE(squares.accelerator.is_excluded());
  Squares never(VerifyMode::sample);
  never.device = [](auto, auto, Numbers&) { throw OutOfMemory(ErrorCode::out_of_memory, "full"); };
  never.run();
  never.expect_right();
  EXPECT_TRUE(never.accelerator.is_excluded()) << "it is not asked for every single item";
}

// Lack of host memory is no fault of the device.
TEST(Batches, KeepingMayFailAndNothingIsKeptTwice) {
  Squares squares(VerifyMode::none);
  squares.work.keep = [&](const Numbers& part) {
    if (part.front() >= 200 * 200) throw OutOfMemory(ErrorCode::out_of_memory, "the host's");
    squares.kept.insert(squares.kept.end(), part.begin(), part.end());
  };
  EXPECT_THROW(run_batches(squares.accelerator, squares.work), OutOfMemory);
  EXPECT_EQ(squares.kept, Squares::squares(0, 200));
}

TEST(Batches, WhatIsCancelledIsNotDoneByTheCpuInstead) {
  Squares squares(VerifyMode::sample);
  squares.device = [](std::uint64_t begin, std::uint64_t, Numbers&) {
    if (begin > 0) throw Failure(ErrorCode::cancelled, "stop");
  };
  EXPECT_THROW(run_batches(squares.accelerator, squares.work), Failure);
  EXPECT_FALSE(squares.accelerator.is_excluded());
}

// When the first batch does not fit, the first one that fits is checked instead.
TEST(Batches, ACheckIsNotForgotten) {
  Squares squares(VerifyMode::sample);
  squares.device = [](std::uint64_t begin, std::uint64_t end, Numbers& out) {
    if (begin == 0) throw OutOfMemory(ErrorCode::out_of_memory, "full");
    if (end < 1000) out.back() += 1;
  };
  squares.run();
  squares.expect_right();
  EXPECT_TRUE(squares.accelerator.is_excluded());
}

TEST(Batches, WhereBothAnswersDoNotFitTheCpusIsTaken) {
  Squares squares(VerifyMode::all);
  squares.work.on_cpu = [](std::uint64_t, std::uint64_t) -> Numbers {
    throw OutOfMemory(ErrorCode::out_of_memory, "host");
  };
  squares.device = [](auto, auto, Numbers& out) { out.back() += 1; };
  squares.run();
  squares.expect_right();
}

TEST(Batches, OneIn256IsChecked) {
  Squares squares(VerifyMode::sample);
  squares.work.items = 1024;
  squares.work.most = squares.work.checked = 1;
  squares.run();
  squares.expect_right();
  EXPECT_EQ(squares.accelerator.counts().verified, 5U) << "four, and the last";
}

TEST(Batches, WhatWaitsForACheckIsBounded) {
  Squares squares(VerifyMode::sample);
  squares.work.max_waiting = 250;
  squares.run();
  squares.expect_right();
  EXPECT_GE(squares.accelerator.counts().verified, 4U);
}

TEST(Routing, NothingMovesThatNobodyMeasuredOrThatGainsNothing) {
  Budget budget(1_MiB);
  Trace trace;
  Device device;
  device.kind = DeviceKind::cuda;
  device.capability = "9.0";
  AcceleratorOptions options;
  options.asked = false;
  const DeviceWork large{nullptr, "x", 1e12, 0, 0, 10}, small{nullptr, "x", 1e9, 0, 0, 0.1};
  EXPECT_FALSE(choose_side(Accelerator(device, options, budget, trace), large).on_device) << "not measured";
  options.rates = DeviceRates{0.2, 1e9, 1e9, {{"x", 1e12}}};
  const Route route = choose_side(Accelerator(device, options, budget, trace), large);
  EXPECT_TRUE(route.on_device) << route.why;
  EXPECT_DOUBLE_EQ(route.device_s.value(), 1.2);
  EXPECT_FALSE(choose_side(Accelerator(device, options, budget, trace), small).on_device) << "under half a second";
  options.rates->amount_s["x"] = 1e10;
  EXPECT_FALSE(choose_side(Accelerator(device, options, budget, trace), large).on_device) << "slower";
  const KernelSource source{"x", "", "", "0123", false, false, ""};
  options.rates->amount_s["x"] = 1e12;
  EXPECT_FALSE(choose_side(Accelerator(device, options, budget, trace), {&source, "x", 1e12, 0, 0, 10}).on_device)
      << "nobody attested it";
  options.asked = true;
  EXPECT_TRUE(choose_side(Accelerator(device, options, budget, trace), small).on_device) << "who asks gets it";
}

}  // namespace
}  // namespace millrace
