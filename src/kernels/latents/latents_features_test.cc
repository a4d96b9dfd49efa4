#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "src/base/error.h"
#include "src/kernels/kernel_test.h"
#include "src/kernels/latents/latents.h"
#include "src/kernels/latents/sides_for_test.h"

namespace millrace::latents {
namespace {

// Makes values of which each channel has a mean of its own, which may be far from 0.
std::vector<float> some_values(const LatentShape& shape, float offset) {
  std::mt19937 random(3);
  std::vector<float> out(shape.elements());
  const std::size_t each = out.size() / static_cast<std::size_t>(shape.channels);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t channel = i / each;
    out[i] = offset * static_cast<float>(channel) + static_cast<float>(random() % 4096) / 512 - 4;
  }
  return out;
}

const LatentShape kFeatureShapes[] = {{16, 3, 30, 41}, {3, 1, 9, 8}, {1, 2, 1, 1}, {17, 5, 40, 33}};

TEST(LatentFeatures, FollowTheDefinition) {
  for (const LatentShape& shape : kFeatureShapes) {
    const std::vector<float> values = some_values(shape, 100);
    std::vector<float> found(feature_count(shape));
    compute_features(view_of(values.data(), sides(shape)), shape, found);
    const auto channels = static_cast<std::size_t>(shape.channels), frames = static_cast<std::size_t>(shape.frames);
    const std::size_t pixels = shape.pixels();
    const auto variance = [&](std::size_t at, std::size_t step, std::size_t count) {
      double mean = 0, squares = 0;
      for (std::size_t i = 0; i < count; ++i) mean += values[at + i * step] / static_cast<double>(count);
      for (std::size_t i = 0; i < count; ++i) squares += std::pow(values[at + i * step] - mean, 2);
      return count > 1 ? squares / static_cast<double>(count - 1) : 0;
    };
    std::vector<double> expected;
    for (std::size_t plane = 0; plane < channels * frames; ++plane)
      expected.push_back(variance(plane * pixels, 1, pixels));
    for (std::size_t c = 0; frames > 1 && c < channels; ++c)
      for (std::size_t i = 0; i < pixels; ++i) expected.push_back(variance(c * frames * pixels + i, pixels, frames));
    for (std::size_t c = 0; c < channels; ++c) {
      double sum = 0;
      for (std::size_t i = 0; i < frames * pixels; ++i) sum += std::fabs(values[c * frames * pixels + i]);
      expected.push_back(sum);
    }
    double mean = 0;
    for (const float value : values) mean += value / static_cast<double>(values.size());
    expected.push_back(mean);
    expected.push_back(std::sqrt(variance(0, 1, values.size())));
    expected.push_back(*std::max_element(values.begin(), values.end()));
    expected.push_back(*std::min_element(values.begin(), values.end()));
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_NEAR(found[i], expected[i], 1e-5 * std::fabs(expected[i]) + 1e-6) << "feature " << i;
  }
}

TEST(LatentFeatures, HaveTheSameBitsAtEveryLevel) {
  for (const LatentShape& shape : kFeatureShapes) {
    const std::vector<float> values = some_values(shape, 1);
    std::vector<std::uint32_t> expected;
    at_every_cpu_level([&] {
      std::vector<float> found(feature_count(shape));
      compute_features(view_of(values.data(), sides(shape)), shape, found);
      for (const ChannelMoments& moments : channel_moments(view_of(values.data(), sides(shape)), shape)) {
        found.push_back(static_cast<float>(moments.mean));
        found.push_back(static_cast<float>(moments.squares));
      }
      std::vector<std::uint32_t> bits;
      for (const float value : found) bits.push_back(std::bit_cast<std::uint32_t>(value));
      if (expected.empty()) expected = bits;
      EXPECT_EQ(bits, expected);
    });
  }
}

TEST(LatentScaling, AStandardizedChannelHasMeanZeroAndDeviationOne) {
  const LatentShape shape{3, 2, 20, 30};
  std::vector<float> values = some_values(shape, 1000);
  std::fill(values.begin(), values.begin() + 1200, 7.25F);  // the first channel is constant
  const auto moments = channel_moments(view_of(values.data(), sides(shape)), shape);
  EXPECT_EQ(moments[0].deviation(), 0);
  std::vector<ChannelScaling> scalings;
  for (const ChannelMoments& own : moments) scalings.push_back(make_standardization(own));
  std::vector<float> out(values.size());
  scale_channels(view_of(values.data(), sides(shape)), shape, scalings, out);
  for (std::size_t i = 0; i < 1200; ++i) ASSERT_EQ(out[i], 0);
  const auto after = channel_moments(view_of(out.data(), sides(shape)), shape);
  for (std::size_t c = 1; c < 3; ++c) {
    EXPECT_NEAR(after[c].mean, 0, 1e-6);
    EXPECT_NEAR(after[c].deviation(), 1, 1e-6);
  }
  EXPECT_THROW(scale_channels(view_of(values.data(), sides(shape)), shape, {}, out), Failure);
}

TEST(LatentScaling, MomentsOfPartsJoinToThoseOfTheWhole) {
  const LatentShape whole{1, 4, 10, 25}, half{1, 2, 10, 25};
  const std::vector<float> values = some_values(whole, 0);
  const auto all = channel_moments(view_of(values.data(), sides(whole)), whole)[0];
  auto joined = channel_moments(view_of(values.data(), sides(half)), half)[0];
  joined.join(channel_moments(view_of(values.data() + 500, sides(half)), half)[0]);
  EXPECT_EQ(joined.count, 1000);
  EXPECT_NEAR(joined.mean, all.mean, 1e-12);
  EXPECT_NEAR(joined.squares, all.squares, 1e-9 * all.squares);
  ChannelMoments none;
  none.join(all);
  EXPECT_EQ(none.mean, all.mean);
}

TEST(LatentSelection, WhatIsNotWantedIsAbsentAndTheRestHasTheSameBits) {
  const LatentShape shape{16, 3, 36, 40};
  const std::vector<float> values = some_values(shape, 1);
  Measures all, one;
  Analyzer(shape).measure(view_of(values.data(), sides(shape)), all);
  for (std::size_t k = 0; k < kMetricNames.size(); ++k) {
    MetricSelection wanted;
    wanted.set(k);
    Analyzer(shape, wanted).measure(view_of(values.data(), sides(shape)), one);
    for (std::size_t other = 0; other < kMetricNames.size(); ++other) {
      if (other == k) {
        EXPECT_EQ(std::bit_cast<std::uint64_t>(one.values[k]), std::bit_cast<std::uint64_t>(all.values[k]))
            << kMetricNames[k];
      } else {
        EXPECT_TRUE(std::isnan(one.values[other])) << kMetricNames[other] << " of " << kMetricNames[k];
      }
    }
  }
}

}  // namespace
}  // namespace millrace::latents
