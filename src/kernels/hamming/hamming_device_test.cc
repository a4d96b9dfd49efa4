// Brute force and index on every device of this machine against the definition, each case three times on the same
// device.
#include "src/kernels/hamming/hamming_device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "src/device/devices_for_test.h"
#include "src/kernels/hamming/hamming_cases_for_test.h"
#include "src/trace/trace.h"

namespace millrace::hamming {
namespace {

constexpr std::size_t kSmall = 260;

class HammingOnDevice : public testing::TestWithParam<TestDevice> {
 protected:
  void SetUp() override {
    if (GetParam().simulated()) fake_.emplace(FakeCudaWish{GetParam().order, "", ""});
    // Whatever the CPU would have corrected is seen: nothing is compared with it.
    accelerator_.emplace(GetParam().device, AcceleratorOptions{Verify::none, 4_MiB, 0}, budget_, trace_);
  }
  void TearDown() override {
    EXPECT_FALSE(accelerator_->struck_out()) << accelerator_->reason();
    const DeviceCounts counts = accelerator_->counts();
    EXPECT_GT(counts.batches, 0U) << "the device was not used";
    EXPECT_EQ(counts.fell_back, 0U);
    accelerator_.reset();
    if (fake_) {
      EXPECT_EQ(fake_->violations(), "");
      EXPECT_EQ(fake_->count("live"), 0U) << fake_->summary();
      EXPECT_EQ(fake_->count("streams") + fake_->count("events") + fake_->count("contexts"), 0U) << fake_->summary();
    }
    EXPECT_EQ(oclgrind_findings(), "");
    EXPECT_EQ(budget_.used().count, 0U);
  }

  // All of them, but where orders of threads are tried or every access is looked at, twice: there the first.
  static std::vector<int> radii(std::vector<int> all) {
#ifdef MILLRACE_SANITIZED
    const bool slow = true;
#else
    const bool slow = false;
#endif
    if (slow || GetParam().small_cases || (GetParam().simulated() && GetParam().order != "forward")) all.resize(1);
    return all;
  }
  // A device's state shows when it is used again.
  static int times() { return GetParam().small_cases ? 1 : 3; }

  template <typename Code>
  void expect_join(const Case<Code>& example, int radius) {
    if (GetParam().small_cases && example.codes.size() > kSmall) return;
    const std::span<const Code> codes(example.codes);
    const Joined truth = reference::self_join(codes, radius, budget_);
    for (const Algorithm algorithm : {Algorithm::brute, Algorithm::index}) {
      for (int again = 0; again < times(); ++again) {
        SCOPED_TRACE(example.name + ", radius " + std::to_string(radius) + ", " + name_of(algorithm));
        const Joined joined = self_join(codes, {radius, algorithm}, {executor_, &*accelerator_}, budget_);
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
    if (GetParam().small_cases && example.codes.size() > kSmall) return;
    const std::span<const Code> base(example.codes), queries = base.first((base.size() + 2) / 3);
    const std::vector<Pair> truth = reference::search(queries, base, radius);
    std::vector<Pair> odd;
    std::copy_if(truth.begin(), truth.end(), std::back_inserter(odd),
                 [](const Pair& pair) { return (pair.i ^ pair.j) % 2 == 1; });
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

  bool must_index_ = false;  // codes are even enough that an index is one
  Budget budget_{1_GiB};
  Trace trace_;
  const Executor executor_{2};
  std::optional<FakeCuda> fake_;
  std::optional<Accelerator> accelerator_;
};

TEST_P(HammingOnDevice, SelfJoinOf64BitsEqualsTheDefinition) {
  for (const auto& example : cases<std::uint64_t>()) {
    for (const int radius : radii({5, 0, 64})) expect_join(example, radius);
  }
}

TEST_P(HammingOnDevice, SelfJoinOf256BitsEqualsTheDefinition) {
  for (const auto& example : cases<Code256>()) {
    for (const int radius : radii({90, 2, 128})) expect_join(example, radius);
  }
}

TEST_P(HammingOnDevice, SearchEqualsTheDefinition) {
  for (const auto& example : cases<std::uint64_t>()) {
    for (const int radius : radii({20, 3})) expect_search(example, radius);
  }
  for (const auto& example : cases<Code256>()) {
    for (const int radius : radii({9, 90})) expect_search(example, radius);
  }
}

// More than one tile of either side, and no multiple of any.
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
// told.
class FailingDevice : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(FailingDevice, CostsTimeAndNoAnswer) {
  if (std::getenv("MILLRACE_TEST_DEVICES") != nullptr) GTEST_SKIP() << "real devices do not fail when told to";
  std::mt19937_64 random(5);
  std::vector<std::uint64_t> codes;
  for (int i = 0; i < 500; ++i) codes.push_back(i % 3 == 0 ? random() : flipped(codes.back(), i % 5, random));
  Budget budget(1_GiB);
  const Executor executor(2);
  const Joined truth = reference::self_join(std::span<const std::uint64_t>(codes), 5, budget);
  const auto [call, end] = GetParam();
  int reached = 0;
  // Every allocation, copy and launch; of events, which stand before and behind each of them, more and more are passed
  // by.
  const bool all = std::string(call) != "event";
  for (int n = 1;; n += all ? 1 : 1 + n / 8) {
    SCOPED_TRACE(fmt::format("{}:{}={}", call, n, end));
    FakeCuda fake({"forward", fmt::format("{}:{}={}", call, n, end), ""});
    Trace trace;
    std::string reason;
    const Device device = list_devices(DeviceKind::cuda, reason).at(0);
    AcceleratorOptions options{Verify::all, 1_MiB, 200};
    options.verify = n % 2 == 0 ? Verify::all : Verify::sample;
    // Its first calls are the run's own.
    options.known_answers = false;
    for (const Algorithm algorithm : {Algorithm::brute, Algorithm::index}) {
      Accelerator accelerator(device, options, budget, trace);
      const Joined joined = self_join(codes, {5, algorithm}, {executor, &accelerator}, budget);
      ASSERT_EQ(list_of(joined.pairs), list_of(truth.pairs));
      ASSERT_EQ(joined.expanded, truth.expanded);
    }
    // A kernel that did not run leaves what others trip over.
    if (std::string(end) != "wrong") {
      ASSERT_EQ(fake.violations(), "");
    }
    // Of a lost device nobody knows what it still writes to: that memory stays.
    const bool lost = std::string(end) == "lost" || std::string(end) == "late" || std::string(call) == "sync";
    if (!lost) {
      ASSERT_EQ(fake.count("live"), 0U) << fake.summary();
    }
    if (fake.calls(call) < static_cast<std::uint64_t>(n)) break;
    ++reached;
  }
  EXPECT_GT(reached, 1);
}

INSTANTIATE_TEST_SUITE_P(
    EveryCall, FailingDevice,
    testing::Values(std::pair("alloc", "memory"), std::pair("alloc", "lost"), std::pair("copy", "memory"),
                    std::pair("copy", "lost"), std::pair("launch", "memory"), std::pair("launch", "lost"),
                    std::pair("launch", "late"), std::pair("launch", "wrong"), std::pair("stream", "memory"),
                    std::pair("stream", "lost"), std::pair("sync", "lost"), std::pair("sync", "memory"),
                    std::pair("pinned", "memory"), std::pair("module", "lost"), std::pair("event", "memory")),
    [](const auto& info) { return std::string(info.param.first) + "_" + info.param.second; });

}  // namespace
}  // namespace millrace::hamming
