#include "src/kernels/statistics/separability.h"

#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>

#include "src/base/error.h"
#include "src/kernels/kernel_test.h"

namespace millrace::statistics {
namespace {

using Groups = std::vector<std::uint32_t>;

std::vector<float> random_features(std::size_t samples, std::size_t features, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> out(samples * features);
  for (float& value : out) value = static_cast<float>(random() >> 8) * 0x1p-24F;
  return out;
}

std::vector<std::uint64_t> bits(const Separability& found) {
  std::vector<std::uint64_t> out;
  const auto add = [&](double value) { out.push_back(std::bit_cast<std::uint64_t>(value)); };
  for (const FeatureSpace* const space : {&found.published, &found.standardized}) {
    for (const double value : {space->ratio, space->p, space->silhouette}) add(value);
    for (const double value : space->silhouettes) add(value);
    for (const double value : space->explained) add(value);
    for (const auto& at : space->coordinates)
      for (const double value : at) add(value);
  }
  return out;
}

Separability separable(const std::vector<float>& features, const Groups& groups, std::uint64_t seed,
                       std::uint32_t stream, std::uint32_t shuffles, const Executor& executor) {
  FeatureProducts products(groups.size());
  products.add(features, executor);
  return separability(products, groups, seed, stream, shuffles, executor);
}

// Constants are from scikit-learn 1.9: PCA and silhouette_samples; the ratio is by scipy's pdist.
TEST(Separability, KnownAnswers) {
  const std::vector<float> features = {0, 0, 0, 1, 1, 0, 5, 5, 5, 6, 9, 0};
  const Groups groups = {0, 0, 0, 1, 1, 2};
  const FeatureSpace found = separable(features, groups, 1, 0, 99, Executor(1)).published;
  EXPECT_EQ(found.reason, UntestedReason::none);
  EXPECT_NEAR(found.ratio, 6.725328375823876, 1e-13);
  const double silhouettes[] = {0.8656032974470583, 0.8208268404116433, 0.8226697997687924,
                                0.8438262381113939, 0.8613249509436927, 0};
  const double coordinates[][2] = {
      {-3.857222087841144, 0.4826477765218862}, {-3.4531738210361143, -0.43208988974743934},
      {-2.942484421571818, 0.8866960433269155}, {2.736707577530631, -2.0707992207995947},
      {3.14075584433566, -2.9855368870689203},  {4.375416908582785, 4.119082177767151}};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(found.silhouettes[i], silhouettes[i], 1e-13);
    for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(found.coordinates[i][k], coordinates[i][k], 1e-13);
  }
  ASSERT_EQ(found.explained.size(), 5U);
  EXPECT_NEAR(found.explained[0], 0.6963771774867666, 1e-14);
  EXPECT_NEAR(found.explained[1], 0.30362282251323325, 1e-14);
  for (std::size_t k = 2; k < 5; ++k) EXPECT_EQ(found.explained[k], 0) << "there are two dimensions";
}

TEST(Separability, TheSameBitsForEveryLevelAndThreadCount) {
  // The number of features is more than a slice has, and no multiple of anything.
  const std::size_t samples = 13, features = 16384 + 512 + 5;
  const std::vector<float> data = random_features(samples, features, 1);
  const Groups groups = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 7};
  const auto expected = bits(separable(data, groups, 5, 2, 300, Executor(1)));
  at_every_cpu_level([&] {
    for (const int threads : {1, 2, 3})
      EXPECT_EQ(bits(separable(data, groups, 5, 2, 300, Executor(threads))), expected) << threads << " threads";
  });
}

TEST(Separability, NamesOfGroupsChangeNothing) {
  const std::vector<float> data = random_features(8, 40, 2);
  const Executor executor(1);
  const Groups groups = {0, 0, 1, 1, 1, 2, 2, 2}, renamed = {5, 5, 1, 1, 1, 900, 900, 900};
  const Separability one = separable(data, groups, 1, 0, 200, executor),
                     other = separable(data, renamed, 1, 0, 200, executor);
  EXPECT_NEAR(one.published.ratio, other.published.ratio, 1e-14);
  EXPECT_EQ(one.published.p, other.published.p);
  EXPECT_EQ(one.standardized.silhouettes, other.standardized.silhouettes);
}

TEST(Separability, TheOrderOfSamplesChangesNothingButDraws) {
  const std::size_t samples = 9, features = 30;
  const std::vector<float> data = random_features(samples, features, 3);
  const Groups groups = {0, 1, 2, 0, 1, 2, 0, 1, 2};
  std::vector<float> turned;
  Groups turned_groups;
  for (std::size_t i = samples; i-- > 0;) {
    turned.insert(turned.end(), data.begin() + static_cast<std::ptrdiff_t>(i * features),
                  data.begin() + static_cast<std::ptrdiff_t>((i + 1) * features));
    turned_groups.push_back(groups[i]);
  }
  const Separability one = separable(data, groups, 1, 0, 10, Executor(1)),
                     other = separable(turned, turned_groups, 1, 0, 10, Executor(1));
  EXPECT_NEAR(one.standardized.ratio, other.standardized.ratio, 1e-12);
  EXPECT_NEAR(one.standardized.silhouette, other.standardized.silhouette, 1e-12);
  for (std::size_t i = 0; i < samples; ++i)
    EXPECT_NEAR(one.published.coordinates[i][0], other.published.coordinates[samples - 1 - i][0], 1e-12);
}

TEST(Separability, StandardizedKnowsNoUnits) {
  const std::size_t samples = 12, features = 25;
  std::vector<float> data = random_features(samples, features, 4);
  const Groups groups = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
  const Separability before = separable(data, groups, 1, 0, 100, Executor(1));
  // Multiplying by powers of two is exact.
  for (std::size_t i = 0; i < samples; ++i)
    for (std::size_t f = 0; f < features; ++f) data[i * features + f] *= f % 2 == 0 ? 0x1p40F : 0x1p-20F;
  const Separability after = separable(data, groups, 1, 0, 100, Executor(1));
  EXPECT_NEAR(after.standardized.ratio, before.standardized.ratio, 1e-13);
  EXPECT_NE(after.published.ratio, before.published.ratio);
  // A constant feature is left out.
  for (std::size_t i = 0; i < samples; ++i) data[i * features] = 0.1F;
  const Separability constant = separable(data, groups, 1, 0, 100, Executor(1));
  EXPECT_TRUE(std::isfinite(constant.standardized.ratio));
  double shares = 0;
  for (const double share : constant.standardized.explained) shares += share;
  EXPECT_NEAR(shares, 1, 1e-12);
}

TEST(Separability, GroupsApartAreFoundAndMixedOnesAreNot) {
  const std::size_t samples = 24, features = 50;
  std::vector<float> data = random_features(samples, features, 5);
  Groups groups;
  for (std::uint32_t i = 0; i < samples; ++i) groups.push_back(i / 8);
  const FeatureSpace mixed = separable(data, groups, 1, 0, 1000, Executor(1)).standardized;
  EXPECT_NEAR(mixed.ratio, 1, 0.05);
  EXPECT_GT(mixed.p, 0.01);
  for (std::size_t i = 0; i < samples; ++i)
    for (std::size_t f = 0; f < 10; ++f) data[i * features + f] += static_cast<float>(groups[i] * (f + 1));
  const FeatureSpace apart = separable(data, groups, 1, 0, 1000, Executor(1)).standardized;
  EXPECT_GT(apart.ratio, 1.1);
  EXPECT_EQ(apart.p, 1.0 / 1001);
  EXPECT_GT(apart.silhouette, mixed.silhouette);
}

TEST(Separability, WhereItIsNotDefinedThereIsAReason) {
  const std::vector<float> data = random_features(4, 10, 6);
  const Executor executor(1);
  for (const Groups& groups : {Groups{1, 1, 1, 1}, Groups{0, 1, 2, 3}}) {
    const Separability found = separable(data, groups, 1, 0, 10, executor);
    EXPECT_EQ(found.published.reason, UntestedReason::too_few);
    EXPECT_TRUE(std::isnan(found.published.ratio) && std::isnan(found.published.p));
    EXPECT_TRUE(found.published.silhouettes.empty());
    EXPECT_EQ(found.published.coordinates.size(), 4U) << "a scatter plot needs no groups";
  }
  const Groups groups = {0, 0, 1, 1};
  EXPECT_EQ(separable(std::vector<float>(40, 0.1F), groups, 1, 0, 10, executor).standardized.reason,
            UntestedReason::no_variance);
  std::vector<float> broken = data;
  broken[7] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(separable(broken, groups, 1, 0, 10, executor).published.reason, UntestedReason::absent);
  EXPECT_EQ(separable({}, {}, 1, 0, 10, executor).published.reason, UntestedReason::too_few);
  const Groups one = {0};
  EXPECT_EQ(separable(std::vector<float>(10, 0.1F), one, 1, 0, 10, executor).published.reason, UntestedReason::too_few);
  const Groups three = {0, 0, 1};
  EXPECT_THROW(separable(data, three, 1, 0, 10, executor), Failure);
}

TEST(Separability, AnySlicesGiveTheSameBits) {
  const std::size_t samples = 5, features = 3 * FeatureProducts::kSlice + 700;
  const std::vector<float> data = random_features(samples, features, 7);
  const Groups groups = {0, 0, 0, 1, 1};
  const auto expected = bits(separable(data, groups, 3, 0, 50, Executor(1)));
  for (const std::size_t slices : {1, 2, 3}) {
    FeatureProducts products(samples);
    for (std::size_t first = 0; first < features; first += slices * FeatureProducts::kSlice) {
      const std::size_t count = std::min(slices * FeatureProducts::kSlice, features - first);
      std::vector<float> some;
      for (std::size_t i = 0; i < samples; ++i)
        some.insert(some.end(), data.begin() + static_cast<std::ptrdiff_t>(i * features + first),
                    data.begin() + static_cast<std::ptrdiff_t>(i * features + first + count));
      products.add(some, Executor(2));
    }
    EXPECT_EQ(bits(separability(products, groups, 3, 0, 50, Executor(2))), expected) << slices;
  }
  FeatureProducts products(samples);
  products.add(std::span(data).first(samples * 700), Executor(1));
  EXPECT_THROW(products.add(std::span(data).first(samples), Executor(1)), Failure) << "behind the last slice";
}

// Videos that are copies of each other differ by rounding only, and no ratio is made of that.
TEST(Separability, CopiesHaveNoRatio) {
  const std::size_t features = 3000;
  std::vector<float> data = random_features(2, features, 8), copies;
  Groups groups;
  for (std::uint32_t i = 0; i < 8; ++i) {
    const auto from = data.begin() + static_cast<std::ptrdiff_t>(i / 4 * features);
    copies.insert(copies.end(), from, from + static_cast<std::ptrdiff_t>(features));
    groups.push_back(i / 4);
  }
  const Separability found = separable(copies, groups, 1, 0, 100, Executor(1));
  for (const FeatureSpace* const space : {&found.published, &found.standardized}) {
    EXPECT_EQ(space->reason, UntestedReason::no_variance);
    EXPECT_TRUE(std::isnan(space->ratio));
  }
}

TEST(Separability, AStoppedExecutorStopsIt) {
  constexpr std::size_t kSamples = 60, kCount = 3000;
  std::mt19937 random(1);
  std::vector<float> features(kSamples * kCount);
  for (float& value : features) value = static_cast<float>(random() % 1000);
  std::vector<std::uint32_t> groups;
  for (std::uint32_t i = 0; i < kSamples; ++i) groups.push_back(i % 3);
  expect_that_it_can_be_stopped(40, std::chrono::microseconds(500),
                                [&](const Executor& on) { separable(features, groups, 1, 0, 1000, on); });
}

}  // namespace
}  // namespace millrace::statistics
