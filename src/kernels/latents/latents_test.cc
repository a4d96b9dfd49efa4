#include "src/kernels/latents/latents.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "src/base/error.h"
#include "src/kernels/kernel_test.h"
#include "src/kernels/latents/latents_half.h"
#include "src/kernels/latents/sides_for_test.h"

namespace millrace::latents {
namespace {

std::vector<float> random_values(const LatentShape& shape, unsigned seed, float offset = 0) {
  std::mt19937 random(seed);
  std::vector<float> out(shape.elements());
  // Values are multiples of 1/64 below 4, which float16 holds too.
  for (float& value : out) value = offset + static_cast<float>(static_cast<int>(random() % 512) - 256) / 64;
  return out;
}

std::uint16_t half_of(float value) {
  for (int order = -0x7BFF; order <= 0x7BFF; ++order)
    if (of_half_order(order) == value) return static_cast<std::uint16_t>(order < 0 ? 0x8000 - order : order);
  throw Failure(ErrorCode::usage, "no float16", std::to_string(value), "");
}

Measures measured(const std::vector<float>& values, const LatentShape& shape) {
  Measures out;
  Analyzer(shape).measure(view_of(values.data(), sides(shape)), out);
  return out;
}

std::vector<std::uint64_t> bits(const Measures& measures) {
  std::vector<std::uint64_t> out;
  const auto add = [&](double value) {
    out.push_back(std::isnan(value) ? 0xABCD : std::bit_cast<std::uint64_t>(value));
  };
  for (const double value : measures.values) add(value);
  for (const auto* values :
       {&measures.variance, &measures.autocorrelation, &measures.edge_density, &measures.frame_correlation,
        &measures.motion, &measures.temporal_variance, &measures.channel_mean, &measures.channel_variance,
        &measures.channel_magnitude, &measures.channel_correlation, &measures.cross_interaction,
        &measures.patch_variance[0], &measures.patch_variance[1], &measures.patch_variance[2],
        &measures.patch_distinctiveness[0], &measures.patch_distinctiveness[1], &measures.patch_distinctiveness[2],
        &measures.spatial_spectrum, &measures.temporal_spectrum}) {
    out.push_back(values->size());
    for (const double value : *values) add(value);
  }
  for (const auto* histograms : {&measures.patch_variances, &measures.patch_distinctivenesses})
    for (const Histogram& histogram : *histograms) out.insert(out.end(), histogram.begin(), histogram.end());
  return out;
}

const LatentShape kShapes[] = {{16, 3, 60, 106}, {4, 1, 64, 64}, {19, 2, 33, 47},
                               {40, 1, 16, 22},  {2, 5, 7, 3},   {1, 1, 1, 1}};

TEST(Latents, EveryLevelGivesTheSameBits) {
  for (const LatentShape& shape : kShapes) {
    const std::vector<float> values = random_values(shape, 1);
    std::vector<std::uint16_t> halves;
    std::vector<std::uint16_t> table(512);
    for (std::size_t k = 0; k < table.size(); ++k)
      table[k] = half_of(static_cast<float>(static_cast<int>(k) - 256) / 64);
    for (const float value : values) halves.push_back(table[static_cast<std::size_t>(value * 64 + 256)]);
    std::vector<std::uint64_t> of_floats, of_halves;
    at_every_cpu_level([&] {
      Measures out;
      Analyzer analyzer(shape);
      analyzer.measure(view_of(values.data(), sides(shape)), out);
      if (of_floats.empty()) of_floats = bits(out);
      EXPECT_EQ(bits(out), of_floats) << shape.channels << " channels, float32";
      analyzer.measure({halves.data(), kFloat16, sides(shape), {}, MemoryKind::host, 0}, out);
      if (of_halves.empty()) of_halves = bits(out);
      EXPECT_EQ(bits(out), of_halves) << shape.channels << " channels, float16";
    });
  }
}

TEST(Latents, AnAnalyzerRemembersNothing) {
  const LatentShape shape{16, 4, 30, 45};
  const std::vector<float> first = random_values(shape, 1), second = random_values(shape, 2, 3);
  Analyzer analyzer(shape);
  Measures out;
  analyzer.measure(view_of(second.data(), sides(shape)), out);
  analyzer.measure(view_of(first.data(), sides(shape)), out);
  EXPECT_EQ(bits(out), bits(measured(first, shape)));
}

TEST(Latents, StepsHaveTheSameBitsAtEveryLevel) {
  // The number of elements is no multiple of sixteen, nor of a run of sixteens.
  const LatentShape shape{3, 5, 47, 19};
  const std::vector<float> a = random_values(shape, 1), b = random_values(shape, 2), c = random_values(shape, 3);
  const ArrayView first = view_of(a.data(), sides(shape)), second = view_of(b.data(), sides(shape)),
                  third = view_of(c.data(), sides(shape));
  std::vector<double> expected;
  at_every_cpu_level([&] {
    const Step step = measure_step(third, second, &first);
    const std::vector<double> found = {step.distance, step.product, step.change};
    if (expected.empty()) expected = found;
    EXPECT_EQ(found, expected);
  });
  EXPECT_TRUE(std::isnan(measure_step(second, first, nullptr).product));
  EXPECT_EQ(measure_step(second, second, &second).distance, 0);
  const std::vector<std::uint16_t> halves(shape.elements());
  EXPECT_THROW(
      measure_step(first, {const_cast<std::uint16_t*>(halves.data()), kFloat16, sides(shape), {}, MemoryKind::host, 0},
                   nullptr),
      Failure);
}

TEST(Latents, ATrajectoryOfKnownSteps) {
  EXPECT_FALSE(measure_trajectory({}, 1));
  // Two steps to the right, then one up.
  const std::vector<Step> steps = {{2, Measures::kAbsent, Measures::kAbsent}, {2, 4, 0}, {1, 0, std::sqrt(5.0)}};
  const auto found = measure_trajectory(steps, std::sqrt(17.0));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, 5);
  EXPECT_EQ(found->half_life, 2);
  EXPECT_NEAR(found->linearity, std::sqrt(17.0) / 5, 1e-15);
  EXPECT_NEAR(found->turning_angle, 3.14159265358979323846 / 4, 1e-15);
  EXPECT_NEAR(found->acceleration, std::sqrt(5.0) / 2, 1e-15);
  EXPECT_FALSE(measure_trajectory(std::vector<Step>{{2, Measures::kAbsent, Measures::kAbsent}, {}}, 1)) << "a hole";
}

// Numbers that follow from the definitions alone; all others are compared with float64 in tests/cli/test_latents.py.
TEST(Latents, WhatFollowsFromTheDefinition) {
  const LatentShape shape{2, 2, 32, 32};
  std::vector<float> values(shape.elements());
  // A wave has five periods across; the second channel is its opposite, and the second frame is the first.
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double wave = std::cos(2 * 3.14159265358979323846 * 5 * static_cast<double>(i % 32) / 32);
    values[i] = static_cast<float>(i < values.size() / 2 ? wave : -wave);
  }
  const Measures out = measured(values, shape);
  EXPECT_NEAR(out[Metric::channel_correlation], -1, 1e-7);
  EXPECT_NEAR(out[Metric::temporal_frame_correlation], 1, 1e-7);
  EXPECT_EQ(out[Metric::temporal_motion], 0);
  EXPECT_EQ(out[Metric::temporal_variance], 0);
  EXPECT_EQ(out[Metric::frequency_spatial_peak], 5);
  EXPECT_EQ(out[Metric::complexity_effective_dimension], 1);
  EXPECT_NEAR(out[Metric::channel_dominance], 0.5, 1e-9);
  EXPECT_NEAR(out[Metric::spatial_variance], 0.5 * 1024 / 1023, 1e-6);
}

TEST(Latents, OfAConstantNothingIsMadeUp) {
  const LatentShape shape{3, 4, 21, 17};
  const Measures out = measured(std::vector<float>(shape.elements(), 0.1F), shape);
  EXPECT_EQ(out[Metric::spatial_variance], 0);
  EXPECT_EQ(out[Metric::global_variance], 0);
  EXPECT_NEAR(out[Metric::global_mean], 0.1F, 1e-9);
  for (const Metric metric :
       {Metric::spatial_autocorrelation, Metric::temporal_frame_correlation, Metric::temporal_autocorrelation_centered,
        Metric::channel_correlation, Metric::global_symmetry, Metric::complexity_effective_dimension_centered,
        Metric::complexity_spectral_flatness, Metric::frequency_spatial_entropy, Metric::frequency_temporal_dominant})
    EXPECT_TRUE(std::isnan(out[metric])) << kMetricNames[static_cast<std::size_t>(metric)];
}

TEST(Latents, WhatIsNotFiniteIsCountedAndNotSpread) {
  const LatentShape shape{4, 2, 9, 11};
  std::vector<float> values = random_values(shape, 3);
  values[7] = std::numeric_limits<float>::quiet_NaN();
  values[500] = -std::numeric_limits<float>::infinity();
  const Measures out = measured(values, shape);
  EXPECT_EQ(out.not_finite, 2U);
  for (const double value : out.values) EXPECT_TRUE(std::isnan(value));
  EXPECT_TRUE(out.variance.empty());
}

TEST(Latents, WhatAShapeDoesNotAllowIsAbsent) {
  const LatentShape image{1, 1, 3, 40};
  const Measures out = measured(random_values(image, 4), image);
  EXPECT_FALSE(std::isnan(out[Metric::spatial_variance]));
  for (const Metric metric : {Metric::temporal_motion, Metric::channel_correlation, Metric::patch_4_variance,
                              Metric::information_mutual, Metric::frequency_spatial_peak})
    EXPECT_TRUE(std::isnan(out[metric])) << kMetricNames[static_cast<std::size_t>(metric)];
}

TEST(Latents, OtherShapesAndTypesAreRefused) {
  for (const LatentShape& shape :
       {LatentShape{0, 1, 8, 8}, LatentShape{129, 1, 8, 8}, LatentShape{4, 1, -1, 8}, LatentShape{4, 5000, 8, 8}})
    EXPECT_THROW(Analyzer{shape}, Failure);
  Analyzer analyzer({4, 1, 8, 8});
  Measures out;
  std::vector<double> doubles(256);
  std::vector<float> few(255);
  EXPECT_THROW(analyzer.measure(view_of(doubles.data(), {4, 1, 8, 8}), out), Failure);
  EXPECT_THROW(analyzer.measure(view_of(few.data(), {255}), out), Failure);
}

}  // namespace
}  // namespace millrace::latents
