// Tests brute force and index on every device of this machine against the definition, each case three times on the same
// device.
#include "src/kernels/hamming/hamming_device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "src/device/operation_for_test.h"
#include "src/kernels/hamming/hamming_cases_for_test.h"

namespace millrace::hamming {
namespace {

constexpr std::size_t kSmall = 260;

class HammingOnDevice : public OperationOnDevice {
 protected:
  HammingOnDevice() : OperationOnDevice(4_MiB) {}

  // Faults of a device's state show when it is used again.
  static int times() { return GetParam().small_cases ? 1 : GetParam().is_simulated() ? 2 : 3; }
  // True for cases to skip: milliseconds become minutes where every access is checked, so many codes have one radius
  // there.
  static bool left_out(std::size_t codes, bool first_radius) {
    return codes > kSmall && (GetParam().small_cases || (GetParam().is_simulated() && !first_radius));
  }

  template <typename Code>
  void expect_join(const Case<Code>& example, int radius) {
    const std::span<const Code> codes(example.codes);
    const JoinResult truth = reference::self_join(codes, radius, budget_);
    for (const Algorithm algorithm : {Algorithm::brute, Algorithm::index}) {
      for (int again = 0; again < times(); ++again) {
        SCOPED_TRACE(example.name + ", radius " + std::to_string(radius) + ", " + name_of(algorithm));
        const JoinResult joined = self_join(codes, {radius, algorithm}, {executor_, &*accelerator_}, budget_);
        ASSERT_EQ(list_of(joined.pairs), list_of(truth.pairs));
        ASSERT_EQ(joined.expanded, truth.expanded);
        if (must_index_) {
          ASSERT_EQ(joined.used, algorithm);
        }
      }
      ASSERT_EQ(count(codes, {radius, algorithm}, {executor_, &*accelerator_}, budget_).expanded, truth.expanded);
    }
  }

  template <typename Code>
  void expect_search(const Case<Code>& example, int radius) {
    const std::span<const Code> base(example.codes), queries = base.first((base.size() + 2) / 3);
    const std::vector<HammingPair> truth = reference::search(queries, base, radius);
    std::vector<HammingPair> odd;
    std::copy_if(truth.begin(), truth.end(), std::back_inserter(odd),
                 [](const HammingPair& pair) { return (pair.i ^ pair.j) % 2 == 1; });
    const auto is_odd = [](std::uint32_t i, std::uint32_t j) { return (i ^ j) % 2 == 1; };
    for (const Algorithm algorithm : {Algorithm::brute, Algorithm::index}) {
      for (int again = 0; again < times(); ++again) {
        SCOPED_TRACE(example.name + ", search, radius " + std::to_string(radius) + ", " + name_of(algorithm));
        const Engines engines(executor_, &*accelerator_);
        ASSERT_EQ(list_of(search(queries, base, {radius, algorithm}, engines, budget_).pairs), truth);
        ASSERT_EQ(list_of(search(queries, base, {radius, algorithm}, engines, budget_, is_odd).pairs), odd);
      }
    }
  }

  // Tests only the first radius where orders of threads are tried, or every access is checked twice.
  template <typename Code, typename Expect>
  static void of_each_radius(const Case<Code>& example, const std::vector<int>& radii, const Expect& expect) {
    for (const int radius : radii) {
      const bool first = radius == radii.front();
      if ((first || !is_slow()) && !left_out(example.codes.size(), first)) expect(radius);
    }
  }

  bool must_index_ = false;  // true if codes are even enough for an index
};

TEST_P(HammingOnDevice, SelfJoinOf64BitsEqualsTheDefinition) {
  for (const auto& example : cases<std::uint64_t>()) {
    of_each_radius(example, {5, 0, 64}, [&](int radius) { expect_join(example, radius); });
  }
}

TEST_P(HammingOnDevice, SelfJoinOf256BitsEqualsTheDefinition) {
  for (const auto& example : cases<Code256>()) {
    of_each_radius(example, {90, 2, 128}, [&](int radius) { expect_join(example, radius); });
  }
}

TEST_P(HammingOnDevice, SearchEqualsTheDefinition) {
  for (const auto& example : cases<std::uint64_t>()) {
    of_each_radius(example, {20, 3}, [&](int radius) { expect_search(example, radius); });
  }
  for (const auto& example : cases<Code256>()) {
    of_each_radius(example, {9, 90}, [&](int radius) { expect_search(example, radius); });
  }
}

// Codes for more than one tile of either side, and no multiple of a tile.
TEST_P(HammingOnDevice, ManyBlocksOfThreads) {
  std::mt19937_64 random(18);
  Case<std::uint64_t> codes{"4,100 codes", {}};
  Case<Code256> long_codes{"1,300 codes", {}};
  for (int i = 0; i < 4100; ++i) {
    codes.codes.push_back(i % 7 == 0 && i > 0 ? flipped(codes.codes[random() % codes.codes.size()], 3, random)
                                              : random_code<std::uint64_t>(random));
    if (i < 1300) {
      long_codes.codes.push_back(i % 7 == 0 && i > 0
                                     ? flipped(long_codes.codes[random() % long_codes.codes.size()], 60, random)
                                     : random_code<Code256>(random));
    }
  }
  if (GetParam().small_cases) {
    codes.codes.resize(kSmall);
    long_codes.codes.resize(kSmall);
  }
  must_index_ = !GetParam().small_cases;
  expect_join(codes, 5);
  expect_join(long_codes, 4);
  must_index_ = false;
  expect_join(long_codes, 90);
}

INSTANTIATE_TEST_SUITE_P(EveryDevice, HammingOnDevice, testing::ValuesIn(devices_for_test()), device_test_name);

// Each call of the driver fails once, in each way in which it can: the pairs are the same, and the device's owner is
// informed.
class FailingDevice : public FailingOperation {};

TEST_P(FailingDevice, CostsTimeAndNoAnswer) {
  std::mt19937_64 random(5);
  std::vector<std::uint64_t> codes;
  for (int i = 0; i < 500; ++i) codes.push_back(i % 3 == 0 ? random() : flipped(codes.back(), i % 5, random));
  const JoinResult truth = reference::self_join(std::span<const std::uint64_t>(codes), 5, budget_);
  constexpr int kAll = 1 << 20;
  fail_each({VerifyMode::all, 1_MiB, 200}, kAll, [&](const auto& open) {
    for (const Algorithm algorithm : {Algorithm::brute, Algorithm::index}) {
      const std::unique_ptr<Accelerator> accelerator = open();
      const JoinResult joined = self_join(codes, {5, algorithm}, {executor_, accelerator.get()}, budget_);
      ASSERT_EQ(list_of(joined.pairs), list_of(truth.pairs));
      ASSERT_EQ(joined.expanded, truth.expanded);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(EveryCall, FailingDevice, testing::ValuesIn(kFailingCalls), failing_test_name);

}  // namespace
}  // namespace millrace::hamming
