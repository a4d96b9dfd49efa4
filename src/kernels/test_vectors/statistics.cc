#include <cmath>

#include "src/kernels/statistics/bootstrap.h"
#include "src/kernels/statistics/multiple_testing.h"
#include "src/kernels/statistics/permute.h"
#include "src/kernels/statistics/separability.h"
#include "src/kernels/test_vectors/test_vectors.h"

namespace millrace::test_vectors {
namespace {

void add(Digest& digest, std::span<const double> values) {
  for (const double value : values) digest.add(value == value ? value : -1.0);
}

// Table with groups of five, five, three and one; every eighth column with holes, one constant; more columns than are
// processed together.
struct OwnTable {
  static constexpr std::size_t kColumns = 37;
  std::vector<std::uint32_t> groups = {0, 1, 0, 2, 1, 0, 1, 2, 0, 1, 3, 2, 0, 1};
  std::vector<double> values;

  OwnTable() {
    Random random(21);
    for (const std::uint32_t group : groups) {
      for (std::size_t c = 0; c < kColumns; ++c) {
        const double value = (random.below(1 << 20) + (group == 1 ? 3e5 : 0)) * 0x1p-20;
        const bool hole = c % 8 == 3 && random.below(4) == 0;
        values.push_back(hole ? std::nan("") : c == 7 ? 1 : value);
      }
    }
  }
  statistics::SampleTable table() const { return {values, groups, kColumns, 4}; }
};

std::string comparisons_answer(const TestInputs&) {
  const OwnTable own;
  Digest digest;
  std::vector<double> p;
  for (std::size_t c = 0; c < OwnTable::kColumns; ++c) {
    std::vector<double> samples[2];
    for (std::size_t row = 0; row < own.groups.size(); ++row)
      if (own.groups[row] < 2) samples[own.groups[row]].push_back(own.table().at(row, c));
    const statistics::SampleComparison found = statistics::compare(samples[0], samples[1]);
    add(digest, std::array{found.t, found.df, found.p, found.cohens_d, found.hedges_g, found.u, found.u_p,
                           found.difference.low, found.difference.high});
    p.push_back(found.p);
  }
  add(digest, statistics::holm(p));
  add(digest, statistics::benjamini_hochberg(p));
  return digest.text();
}

// Uses some of the 126 permutations of five against five, and all 56 of five against three.
std::string permutations_answer(const TestInputs&) {
  const OwnTable own;
  const std::size_t pairs = statistics::pairs_of(own.table().group_count).size();
  std::vector<std::uint8_t> family(pairs * OwnTable::kColumns, 1);
  family[0] = family[30] = family[OwnTable::kColumns + 2] = 0;
  Digest digest;
  const auto found = statistics::permute(own.table(), family, 5, 100, Executor(1));
  add(digest, found.raw);
  add(digest, found.familywise);
  return digest.text();
}

std::string bootstrap_answer(const TestInputs&) {
  Digest digest;
  const auto found = statistics::bootstrap(OwnTable().table(), 5, 300, Executor(1));
  for (const auto* some : {&found.means, &found.differences})
    for (const statistics::Interval& interval : *some) add(digest, std::array{interval.low, interval.high});
  return digest.text();
}

std::string separability_answer(const TestInputs&) {
  constexpr std::size_t kSamples = 11, kOwnFeatures = 523;
  Random random(22);
  std::vector<float> features(kSamples * kOwnFeatures);
  for (std::size_t i = 0; i < features.size(); ++i)
    features[i] = static_cast<float>(random.below(1 << 20) + (i < features.size() / 2 ? 1 << 18 : 0)) * 0x1p-20F;
  const std::vector<std::uint32_t> groups = {1, 1, 1, 1, 1, 0, 0, 0, 0, 4, 1};
  const Executor executor(1);
  Digest digest;
  const auto add_space = [&](const statistics::FeatureSpace& space) {
    add(digest, std::array{space.ratio, space.p, space.silhouette});
    add(digest, space.explained);
    for (const auto& at : space.coordinates) add(digest, at);
  };
  statistics::FeatureProducts products(kSamples);
  products.add(features, executor);
  const auto found = statistics::separability(products, groups, 5, 1, 200, executor);
  add_space(found.published);
  add_space(found.standardized);
  return digest.text();
}

constexpr KnownAnswer kStatisticsAnswers[] = {
    {"statistics", "two samples compared", "370b349fc6333719", comparisons_answer},
    {"statistics", "permutations of videos", "d0c82e52a46cb9e1", permutations_answer},
    {"statistics", "bootstrap intervals", "ea148c798c5222cc", bootstrap_answer},
    {"statistics", "separability of groups", "2896fe21eae21132", separability_answer},
};

}  // namespace

std::span<const KnownAnswer> statistics_answers() { return kStatisticsAnswers; }

}  // namespace millrace::test_vectors
