// Compares measures of latents on every device of this machine with the CPU's, each batch three times on the same
// buffers.
#include "src/kernels/latents/latents_device.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "src/device/operation_for_test.h"
#include "src/kernels/latents/latents_test_vectors.h"

namespace millrace::latents {
namespace {

std::string words_of(const LatentShape& shape) {
  return fmt::format("[{}, {}, {}, {}]", shape.channels, shape.frames, shape.height, shape.width);
}

// Returns the metrics that are not the same.
std::string differences(const Measures& a, const Measures& b) {
  std::string out = a.not_finite == b.not_finite ? "" : "not_finite ";
  for (std::size_t k = 0; k < kMetricNames.size(); ++k) {
    if (std::bit_cast<std::uint64_t>(a.values[k]) != std::bit_cast<std::uint64_t>(b.values[k]))
      out += fmt::format("{} {} {}; ", kMetricNames[k], a.values[k], b.values[k]);
  }
  return out.empty() ? "a distribution" : out;
}

class LatentsOnDevice : public OperationOnDevice {
 protected:
  LatentsOnDevice() : OperationOnDevice(64_MiB) {}

  static int times() { return is_slow() ? 1 : 3; }

  void expect_same(const LatentShape& shape, const std::vector<ArrayView>& latents,
                   const MetricSelection& metrics = every_metric()) {
    const std::vector<Measures> truth = measure_on_cpu(shape, metrics, latents);
    DeviceAnalyzer analyzer(shape, metrics, executor_, *accelerator_, budget_);
    for (int again = 0; again < times(); ++again) {
      std::vector<Measures> found(latents.size());
      analyzer.measure(latents, found);
      for (std::size_t i = 0; i < latents.size(); ++i) {
        EXPECT_TRUE(same_bits(found[i], truth[i]))
            << "latent " << i << " of " << words_of(shape) << ": " << differences(found[i], truth[i]);
      }
    }
  }
  void expect_same(const LatentShape& shape, std::size_t count = 2) {
    for (const bool halves : {true, false}) {
      SCOPED_TRACE(halves ? "float16" : "float32");
      SyntheticLatents made(shape, halves, count, 3);
      expect_same(shape, made.views());
    }
  }
};

TEST_P(LatentsOnDevice, OfEveryShape) {
  std::vector<LatentShape> shapes = {{1, 1, 1, 1}, {2, 5, 7, 3},   {3, 1, 1, 9}, {1, 4, 9, 1},
                                     {4, 2, 8, 8}, {5, 3, 17, 16}, {16, 2, 4, 5}};
  // Shapes with few pixels, with just enough, with prime sides, and with one patch of sixteen.
  for (const LatentShape& shape : {LatentShape{4, 1, 64, 64}, LatentShape{16, 3, 32, 32}, LatentShape{19, 2, 33, 47},
                                   LatentShape{40, 1, 16, 22}, LatentShape{3, 18, 11, 30}, LatentShape{2, 2, 31, 33},
                                   LatentShape{4, 17, 26, 44}, LatentShape{16, 2, 60, 106}}) {
    if (!is_slow()) shapes.push_back(shape);
  }
  for (const LatentShape& shape : shapes) expect_same(shape, shape.elements() > 50'000 ? 1 : 2);
}

TEST_P(LatentsOnDevice, WhatIsWantedAlone) {
  const LatentShape shape = is_slow() ? LatentShape{4, 2, 8, 10} : LatentShape{6, 3, 34, 36};
  SyntheticLatents made(shape, true, 2, 5);
  for (const Metric metric :
       {Metric::spatial_variance, Metric::temporal_motion, Metric::patch_8_variance, Metric::channel_correlation,
        Metric::complexity_spectral_flatness, Metric::frequency_spatial_peak, Metric::information_density,
        Metric::information_mutual, Metric::information_mutual_published}) {
    SCOPED_TRACE(kMetricNames[static_cast<std::size_t>(metric)]);
    expect_same(shape, made.views(), MetricSelection().set(static_cast<std::size_t>(metric)));
  }
}

// Latents of one value, of zeros of both signs, of the greatest and smallest numbers, and of numbers that are not
// finite.
TEST_P(LatentsOnDevice, OfExtremeValues) {
  const LatentShape shape = is_slow() ? LatentShape{2, 2, 6, 6} : LatentShape{5, 3, 34, 32};
  std::mt19937_64 random(4);
  const std::vector<float> of = {0.0F, -0.0F, 1.5F, 3e38F, -2e38F, 1e20F, -3e19F, 1e-45F, -3e-39F, 65504.0F};
  for (const std::vector<std::size_t>& some :
       {std::vector<std::size_t>{0}, {0, 1}, {2}, {1, 2}, {5, 6}, {7, 8, 0}, {3, 4}, {9, 7}, {5, 7, 2, 6}}) {
    std::vector<float> values(shape.elements());
    for (float& value : values) value = of[some[random() % some.size()]];
    expect_same(shape, {view_of(values.data(), {shape.channels, shape.frames, shape.height, shape.width})});
  }
  SyntheticLatents made(shape, true, 3, 5);
  auto* halves = reinterpret_cast<std::uint16_t*>(made.bytes().data());
  halves[7] = 0x7C00;
  halves[shape.elements() + 3] = 0xFE01;
  halves[2 * shape.elements() + 5] = 0x03FF;  // subnormal
  halves[2 * shape.elements() + 6] = 0x8001;
  expect_same(shape, made.views());
}

TEST_P(LatentsOnDevice, OfEveryFloat16) {
  const LatentShape shape{2, 2, 128, 128};
  if (is_slow()) return expect_same({2, 1, 8, 8});
  std::vector<std::uint16_t> halves(shape.elements());
  for (std::size_t i = 0; i < halves.size(); ++i) {
    const auto half = static_cast<std::uint16_t>(i * 40503);
    halves[i] = (half & 0x7C00U) == 0x7C00U ? 0x3C00 : half;
  }
  expect_same(shape, {{halves.data(), kFloat16, {2, 2, 128, 128}, {}, MemoryKind::host, 0}});
}

TEST_P(LatentsOnDevice, OfBothTypesOneAfterTheOther) {
  const LatentShape shape{3, 2, 9, 10};
  SyntheticLatents halves(shape, true, 3, 1), singles(shape, false, 3, 2);
  const std::vector<ArrayView> a = halves.views(), b = singles.views();
  expect_same(shape, {a[0], a[1], b[0], a[2], b[1], b[2]});
  EXPECT_GE(accelerator_->counts().batches, 4U);
}

// Batches have three latents, then the rest; the CPU measures all of them too.
TEST_P(LatentsOnDevice, BatchesOfOneAnalyzer) {
  open({VerifyMode::all, 64_MiB, 3});
  expect_same({4, 3, 12, 14}, 8);
  EXPECT_GE(accelerator_->counts().batches, 6U);
  EXPECT_EQ(accelerator_->counts().verified, accelerator_->counts().batches);
}

// Batches are as large as the memory allows.
TEST_P(LatentsOnDevice, MoreLatentsThanMemory) {
  const LatentShape shape = is_slow() ? LatentShape{4, 2, 16, 18} : LatentShape{16, 2, 40, 42};
  const std::uint64_t each = DeviceAnalyzer::device_bytes(shape, every_metric(), sizeof(float));
  const Bytes little{5 * each + (std::uint64_t{1} << 18)};
  open({VerifyMode::none, little, 0});
  expect_same(shape, 7);
  EXPECT_GE(accelerator_->counts().batches, 4U);
  EXPECT_LE(accelerator_->counts().peak.count, little.count);
}

TEST_P(LatentsOnDevice, WhatWasCancelledIsHandedToNobody) {
  const LatentShape shape{2, 2, 6, 6};
  expect_same(shape);
  CancelToken cancel;
  const Executor executor(2, &cancel);
  SyntheticLatents made(shape, true, 2, 1);
  std::vector<Measures> found(2);
  DeviceAnalyzer analyzer(shape, every_metric(), executor, *accelerator_, budget_);
  cancel.cancel();
  EXPECT_THROW(analyzer.measure(made.views(), found), Failure);
}

TEST_P(LatentsOnDevice, ShapesAtRandom) {
  std::mt19937_64 random(20);
  const char* times = std::getenv("MILLRACE_RANDOM_LATENTS");
  const std::uint64_t cases = times != nullptr ? std::strtoull(times, nullptr, 10) : is_slow() ? 2 : 10;
  const auto side = [&](int most) { return 1 + static_cast<int>(random() % static_cast<std::uint64_t>(most)); };
  for (std::uint64_t i = 0; i < cases; ++i) {
    const LatentShape shape{side(is_slow() ? 6 : 20), side(4), side(is_slow() ? 12 : 50), side(is_slow() ? 12 : 50)};
    expect_same(shape, 1 + random() % 3);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryDevice, LatentsOnDevice, testing::ValuesIn(devices_for_test()), device_test_name);

TEST(LatentsOnSimulatedDevice, NothingAndNothingThatCanBe) {
  if (std::getenv("MILLRACE_TEST_DEVICES") != nullptr) GTEST_SKIP() << "of the simulated driver";
  const FakeCuda fake;
  Budget budget(1_GiB);
  Trace trace;
  std::string reason;
  const Executor executor(1);
  Accelerator accelerator(list_devices(DeviceKind::cuda, reason).at(0), {}, budget, trace);
  const LatentShape shape{2, 1, 4, 4};
  EXPECT_THROW(DeviceAnalyzer({0, 1, 4, 4}, every_metric(), executor, accelerator, budget), Failure);
  DeviceAnalyzer analyzer(shape, every_metric(), executor, accelerator, budget);
  analyzer.measure({}, {});
  SyntheticLatents made(shape, true, 1, 1);
  std::vector<ArrayView> views = made.views();
  std::vector<Measures> out(1);
  EXPECT_THROW(analyzer.measure(views, {}), Failure);
  views[0].shape = {2, 1, 4, 5};
  EXPECT_THROW(analyzer.measure(views, out), Failure);
  // This memory does not belong to the device.
  views = made.views();
  views[0].memory = MemoryKind::device;
  EXPECT_THROW(analyzer.measure(views, out), Failure);
}

// A latent that does not fit is measured by the CPU.
TEST(LatentsOnSimulatedDevice, ALatentThatDoesNotFitIsTheCpus) {
  if (std::getenv("MILLRACE_TEST_DEVICES") != nullptr) GTEST_SKIP() << "real devices have other memory";
  const FakeCuda fake;
  Budget budget(1_GiB);
  Trace trace;
  std::string reason;
  const Executor executor(2);
  AcceleratorOptions options{VerifyMode::sample, 1_MiB, 0};
  options.known_answers = false;
  Accelerator accelerator(list_devices(DeviceKind::cuda, reason).at(0), options, budget, trace);
  const LatentShape shape{16, 2, 40, 42};
  SyntheticLatents made(shape, true, 2, 1);
  std::vector<Measures> found(2);
  DeviceAnalyzer analyzer(shape, every_metric(), executor, accelerator, budget);
  analyzer.measure(made.views(), found);
  const std::vector<Measures> truth = measure_on_cpu(shape, every_metric(), made.views());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(same_bits(found[i], truth[i]));
  EXPECT_EQ(analyzer.counts().by_cpu, 2U);
  EXPECT_EQ(accelerator.counts().fell_back, 2U);
  EXPECT_FALSE(accelerator.is_excluded()) << accelerator.reason();
}

class LatentChecks : public CheckedOperation {};

TEST_F(LatentChecks, SeeWhatABodyGetsWrong) {
  const LatentShape shape{4, 2, 33, 34};
  SyntheticLatents made(shape, true, 5, 1);
  std::vector<Measures> found(5);
  DeviceAnalyzer(shape, every_metric(), executor_, *accelerator_, budget_).measure(made.views(), found);
  const std::vector<Measures> truth = measure_on_cpu(shape, every_metric(), made.views());
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_TRUE(same_bits(found[i], truth[i])) << i;
}

// Each call of the driver fails once: the measures are the same.
class FailingDeviceLatents : public FailingOperation {};

TEST_P(FailingDeviceLatents, CostsTimeAndNoNumber) {
  const LatentShape shape{3, 2, 8, 8};
  SyntheticLatents made(shape, true, 5, 1);
  const std::vector<ArrayView> latents = made.views();
  const std::vector<Measures> truth = measure_on_cpu(shape, every_metric(), latents);
  fail_each({VerifyMode::all, 16_MiB, 3}, 12, [&](const auto& open) {
    const std::unique_ptr<Accelerator> accelerator = open();
    std::vector<Measures> found(latents.size());
    DeviceAnalyzer(shape, every_metric(), executor_, *accelerator, budget_).measure(latents, found);
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_TRUE(same_bits(found[i], truth[i])) << i;
  });
}

INSTANTIATE_TEST_SUITE_P(EveryCall, FailingDeviceLatents, testing::ValuesIn(kFailingCalls), failing_test_name);

}  // namespace
}  // namespace millrace::latents
