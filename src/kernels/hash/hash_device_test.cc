// Tests hashes on every device of this machine against the CPU's, each batch three times on the same buffers.
#include "src/kernels/hash/hash_device.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "src/device/operation_for_test.h"
#include "src/kernels/hash/hash_test_vectors.h"

namespace millrace::hashes {
namespace {

HashRequest every_kind(int size = 8) {
  HashRequest out{{kHashKinds.begin(), kHashKinds.end()}, size};
  if ((size & (size - 1)) != 0) std::erase(out.kinds, HashKind::whash);
  return out;
}

class HashesOnDevice : public OperationOnDevice {
 protected:
  HashesOnDevice() : OperationOnDevice(48_MiB) {}

  static int times() { return is_slow() ? 1 : 3; }

  void expect_same(const HashRequest& request, const SyntheticPictures& made) {
    const std::vector<DecodedPicture> pictures = made.pictures();
    DeviceHasher hasher(request, executor_, *accelerator_, budget_);
    for (int again = 0; again < times(); ++again) {
      const std::vector<PictureHashes> found = hasher.hash(pictures);
      ASSERT_EQ(found.size(), pictures.size());
      for (std::size_t i = 0; i < pictures.size(); ++i) expect_equal(request, pictures[i], found[i]);
    }
  }

  static void expect_equal(const HashRequest& request, const DecodedPicture& picture, const PictureHashes& found) {
    const PictureHashes truth = hash_on_cpu(request, picture);
    const std::string which =
        fmt::format("{} x {}, {} channels, size {}", picture.width, picture.height, picture.channels, request.size);
    EXPECT_EQ(found.quality, truth.quality) << which;
    ASSERT_EQ(found.bits.size(), truth.bits.size()) << which;
    for (std::size_t k = 0; k < truth.bits.size(); ++k) {
      EXPECT_EQ(found.bits[k], truth.bits[k]) << name_of(request.kinds[k]) << " of " << which;
    }
  }
};

TEST_P(HashesOnDevice, PicturesOfEverySize) {
  SyntheticPictures made;
  const std::vector<std::pair<int, int>> all = {
      {1, 1},   {1, 37},  {41, 1},  {2, 3},   {5, 5},    {4, 90},    {7, 8},    {8, 8},    {9, 8},    {32, 32},
      {63, 64}, {64, 64}, {65, 64}, {64, 65}, {97, 101}, {128, 128}, {129, 40}, {31, 257}, {256, 32}, {401, 233}};
  std::uint64_t seed = 0;
  for (const auto& [width, height] : all) {
    if (is_slow() && width * height > 5000) continue;
    made.add(width, height, 3, ++seed);
    made.add(width, height, 1, ++seed);
  }
  expect_same(every_kind(), made);
}

// Sides as long as they may be, and more pixels than are packed at once.
TEST_P(HashesOnDevice, LongPictures) {
  SyntheticPictures made;
  if (!is_slow()) {
    made.add(65535, 1, 3, 1);
    made.add(2, 65535, 1, 2);
    made.add(2900, 2900, 1, 3);
  }
  made.add(3000, 1, 1, 4);
  expect_same({{HashKind::dhash}, 2}, made);
}

// With little host memory the CPU takes what it needs for one picture, and the stages are small.
TEST_P(HashesOnDevice, OnLittleMemory) {
  if (is_slow()) {
    SyntheticPictures few;
    few.add(40, 30, 3, 1);
    expect_same(every_kind(), few);
    return;
  }
  const HashRequest request{{HashKind::ahash}, 8};
  SyntheticPictures made;
  for (std::uint64_t i = 0; i < 3; ++i) made.add(600, 500, 3, i);
  const std::vector<DecodedPicture> pictures = made.pictures();
  const Workspace one = PictureHasher::workspace(request, 600, 500);
  Budget little(Bytes{one.host.count + (std::uint64_t{1} << 20)});
  // A CPU behind OpenCL uses the host's memory as the device's.
  if (GetParam().device.is_cpu) return expect_same(request, made);
  Accelerator accelerator(GetParam().device, {VerifyMode::all, 32_MiB, 0}, little, trace_);
  DeviceHasher hasher(request, executor_, accelerator, little);
  const std::vector<PictureHashes> found = hasher.hash(pictures);
  for (std::size_t i = 0; i < pictures.size(); ++i) expect_equal(request, pictures[i], found[i]);
  EXPECT_FALSE(accelerator.is_excluded()) << accelerator.reason();
  expect_same(request, made);
}

TEST_P(HashesOnDevice, WhatWasCancelledIsHandedToNobody) {
  SyntheticPictures made;
  for (std::uint64_t i = 0; i < 4; ++i) made.add(40, 30, 3, i);
  const HashRequest request{{HashKind::ahash}, 8};
  expect_same(request, made);
  CancelToken cancel;
  const Executor executor(2, &cancel);
  DeviceHasher hasher(request, executor, *accelerator_, budget_);
  cancel.cancel();
  EXPECT_THROW(hasher.hash(made.pictures()), Failure);
}

TEST_P(HashesOnDevice, HashesOfEverySize) {
  for (const int size : {2, 3, 4, 5, 8, 13, 16, 31, 32, 47, 64}) {
    if (is_slow() && size > 13) break;
    SyntheticPictures made;
    for (const auto& [width, height] : {std::pair{53, 79}, std::pair{10, 6}, std::pair{140, 33}}) {
      made.add(width, height, size % 2 == 0 ? 3 : 1, static_cast<std::uint64_t>(size));
    }
    expect_same(every_kind(size), made);
  }
}

// Kinds that are requested alone compute what another kind would have computed for them.
TEST_P(HashesOnDevice, EachKindAlone) {
  for (const HashKind kind : kHashKinds) {
    SCOPED_TRACE(name_of(kind));
    SyntheticPictures made;
    made.add(71, 46, 3, 1);
    made.add(33, 90, 1, 2);
    made.add(3, 3, 3, 3);
    expect_same({{kind}, 8}, made);
  }
  SyntheticPictures made;
  made.add(71, 46, 3, 1);
  expect_same({{HashKind::pdq, HashKind::ahash, HashKind::pdq, HashKind::ahash}, 8}, made);
}

TEST_P(HashesOnDevice, RowsThatLieApart) {
  SyntheticPictures made;
  for (const int gap : {1, 3, 64}) {
    made.add(50, 40, 3, 7, gap);
    made.add(50, 40, 1, 8, gap);
    made.add(1, 9, 3, 9, gap);
  }
  expect_same(every_kind(), made);
  // Rows from the last one up.
  std::vector<DecodedPicture> turned = made.pictures();
  for (DecodedPicture& picture : turned) {
    picture.data += (picture.height - 1) * picture.stride;
    picture.stride = -picture.stride;
  }
  const HashRequest request = every_kind();
  DeviceHasher hasher(request, executor_, *accelerator_, budget_);
  const std::vector<PictureHashes> found = hasher.hash(turned);
  for (std::size_t i = 0; i < turned.size(); ++i) expect_equal(request, turned[i], found[i]);
}

// Pictures whose hashes are decided by rounding, because blocks tie, or by nothing at all.
TEST_P(HashesOnDevice, FlatStripedAndColouredPictures) {
  SyntheticPictures made;
  std::mt19937_64 random(5);
  for (const int channels : {1, 3}) {
    for (const int what : {0, 255, 128, 31, 32}) {
      made.add(40, 24, channels,
               std::vector<std::uint8_t>(std::size_t{40} * 24 * channels, static_cast<std::uint8_t>(what)));
    }
    std::vector<std::uint8_t> halves(std::size_t{32} * 32 * channels), noise(std::size_t{70} * 50 * channels);
    for (std::size_t i = 0; i < halves.size(); ++i)
      halves[i] = i % (32 * channels) < std::size_t{16} * channels ? 10 : 240;
    for (std::uint8_t& v : noise) v = static_cast<std::uint8_t>(random());
    made.add(32, 32, channels, halves);
    made.add(70, 50, channels, noise);
  }
  // Colours of every hue and saturation.
  std::vector<std::uint8_t> colours;
  for (int i = 0; i < 60 * 60; ++i) {
    for (int channel = 0; channel < 3; ++channel) colours.push_back(static_cast<std::uint8_t>(random() % 4 * 85));
  }
  made.add(60, 60, 3, colours);
  expect_same(every_kind(), made);
  expect_same(every_kind(4), made);
}

TEST_P(HashesOnDevice, LongAndNarrowPictures) {
  SyntheticPictures made;
  const int length = is_slow() ? 700 : 9000;
  made.add(length, 3, 3, 1);
  made.add(2, length, 1, 2);
  made.add(6, length, 3, 3);
  made.add(length, 7, 1, 4);
  expect_same(every_kind(), made);
}

// Batches of three pictures, then of the rest, with one hasher; the CPU hashes all of them, too.
TEST_P(HashesOnDevice, BatchesOfOneHasher) {
  open({VerifyMode::all, 48_MiB, 3});
  SyntheticPictures made;
  std::mt19937_64 random(3);
  for (int i = 0; i < (is_slow() ? 5 : 31); ++i) {
    made.add(1 + static_cast<int>(random() % 80), 1 + static_cast<int>(random() % 80), i % 3 == 0 ? 1 : 3, random());
  }
  expect_same(every_kind(), made);
  EXPECT_GE(accelerator_->counts().batches, 2U);
  EXPECT_EQ(accelerator_->counts().verified, accelerator_->counts().batches);
}

// Each batch has as many pictures as the device's memory holds.
TEST_P(HashesOnDevice, MorePicturesThanMemory) {
  open({VerifyMode::none, is_slow() ? 512_KiB : 24_MiB, 0});
  const int part = is_slow() ? 8 : 1;
  SyntheticPictures made;
  made.add(1531 / part, 1021 / part, 3, 1);
  made.add(1021 / part, 801 / part, 1, 2);
  made.add(640 / part, 480 / part, 3, 3);
  expect_same(every_kind(), made);
  EXPECT_GE(accelerator_->counts().batches, 2U);
  EXPECT_LE(accelerator_->counts().peak.count, (is_slow() ? 512_KiB : 24_MiB).count);
}

TEST_P(HashesOnDevice, SizesAndKindsAtRandom) {
  std::mt19937_64 random(20);
  const char* times = std::getenv("MILLRACE_RANDOM_HASHES");
  const std::uint64_t cases = times != nullptr ? std::strtoull(times, nullptr, 10) : is_slow() ? 2 : 25;
  for (std::uint64_t i = 0; i < cases; ++i) {
    HashRequest request = every_kind(2 + static_cast<int>(random() % (is_slow() ? 8 : 24)));
    const std::uint64_t left_out = random();
    std::size_t place = 0;
    std::erase_if(request.kinds, [&](HashKind) { return (left_out >> place++ & 1) != 0; });
    if (request.kinds.empty()) request.kinds = {HashKind::dhash};
    SCOPED_TRACE(fmt::format("case {}", i));
    SyntheticPictures made;
    for (int k = 0; k < 4; ++k) {
      made.add(1 + static_cast<int>(random() % 150), 1 + static_cast<int>(random() % 150), random() % 2 == 0 ? 1 : 3,
               random(), static_cast<int>(random() % 3));
    }
    expect_same(request, made);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryDevice, HashesOnDevice, testing::ValuesIn(devices_for_test()), device_test_name);

// A picture that does not fit by itself goes to the CPU, and those after it to the device again.
TEST(HashesOnSimulatedDevice, APictureThatDoesNotFitIsTheCpus) {
  if (std::getenv("MILLRACE_TEST_DEVICES") != nullptr) GTEST_SKIP() << "real devices have other memory";
  const FakeCuda fake;
  Budget budget(1_GiB);
  Trace trace;
  std::string reason;
  const Executor executor(2);
  SyntheticPictures made;
  made.add(50, 50, 3, 1);
  made.add(900, 700, 3, 2);
  made.add(50, 50, 1, 3);
  const std::vector<DecodedPicture> pictures = made.pictures();
  const HashRequest request = every_kind();
  AcceleratorOptions options{VerifyMode::sample, 2_MiB, 0};
  options.known_answers = false;
  Accelerator accelerator(list_devices(DeviceKind::cuda, reason).at(0), options, budget, trace);
  DeviceHasher hasher(request, executor, accelerator, budget);
  const std::vector<PictureHashes> found = hasher.hash(pictures);
  for (std::size_t i = 0; i < pictures.size(); ++i) EXPECT_EQ(found[i], hash_on_cpu(request, pictures[i])) << i;
  EXPECT_EQ(accelerator.counts().fell_back, 1U);
  EXPECT_EQ(accelerator.counts().batches, 2U);
  EXPECT_FALSE(accelerator.is_excluded()) << accelerator.reason();
}

TEST(HashesOnSimulatedDevice, NothingAndNothingThatCanBe) {
  if (std::getenv("MILLRACE_TEST_DEVICES") != nullptr) GTEST_SKIP() << "of the simulated driver";
  const FakeCuda fake;
  Budget budget(1_GiB);
  Trace trace;
  std::string reason;
  const Executor executor(1);
  Accelerator accelerator(list_devices(DeviceKind::cuda, reason).at(0), {}, budget, trace);
  EXPECT_TRUE(DeviceHasher(every_kind(), executor, accelerator, budget).hash({}).empty());
  EXPECT_THROW(DeviceHasher({{HashKind::whash}, 6}, executor, accelerator, budget), Failure);
  EXPECT_THROW(DeviceHasher({{}, 8}, executor, accelerator, budget), Failure);
}

class HashChecks : public CheckedOperation {};

TEST_F(HashChecks, SeeWhatABodyGetsWrong) {
  SyntheticPictures made;
  for (std::uint64_t i = 0; i < 5; ++i) made.add(60, 50, 3, i);
  const std::vector<DecodedPicture> pictures = made.pictures();
  const HashRequest request = every_kind();
  const std::vector<PictureHashes> found = DeviceHasher(request, executor_, *accelerator_, budget_).hash(pictures);
  for (std::size_t i = 0; i < pictures.size(); ++i) ASSERT_EQ(found[i], hash_on_cpu(request, pictures[i])) << i;
}

// Each call of the driver fails once: the hashes are the same.
class FailingDeviceHashes : public FailingOperation {};

TEST_P(FailingDeviceHashes, CostsTimeAndNoHash) {
  SyntheticPictures made;
  for (std::uint64_t i = 0; i < 6; ++i) made.add(20 + 3 * static_cast<int>(i), 17, i % 2 == 0 ? 3 : 1, i, 1);
  made.add(16, 16, 1, std::vector<std::uint8_t>(256, 77));  // its whash is decided by rounding
  const std::vector<DecodedPicture> pictures = made.pictures();
  const HashRequest request = every_kind(4);
  std::vector<PictureHashes> truth;
  for (const DecodedPicture& picture : pictures) truth.push_back(hash_on_cpu(request, picture));
  fail_each({VerifyMode::all, 16_MiB, 3}, 12, [&](const auto& open) {
    const std::unique_ptr<Accelerator> accelerator = open();
    ASSERT_EQ(DeviceHasher(request, executor_, *accelerator, budget_).hash(pictures), truth);
  });
}

INSTANTIATE_TEST_SUITE_P(EveryCall, FailingDeviceHashes, testing::ValuesIn(kFailingCalls), failing_test_name);

}  // namespace
}  // namespace millrace::hashes
