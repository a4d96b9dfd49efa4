#include "src/jobs/dedupe/match/dense_groups.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>
#include <numeric>

namespace millrace::dedupe {
namespace {

// docs/design/dense-groups.md gives the reasons for the constants of this file.
constexpr int kMaxLevel = 31;
constexpr const char* kWhat = "dense groups";

// Limits of a close neighbour: the value of distance_of(), and the number of differing bits of dhash.
constexpr std::size_t kMaxCloseDistance = 4;
constexpr int kMaxCloseBits = 6;

std::size_t distance_of(const ThumbnailCodes& a, const ThumbnailCodes& b) {
  const auto bits = distances(a, b);
  const auto sum = static_cast<unsigned>(std::accumulate(bits.begin(), bits.end(), 0));
  return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(sum)), DenseGroups::kDistances - 1);
}

CodeColumns rows_of(const CodeColumns& codes, std::span<const std::uint32_t> rows) {
  CodeColumns out;
  out.reserve(rows.size());
  for (const std::uint32_t row : rows) out.add(codes.at(row));
  return out;
}

// Marks each appearance that has at least `many` neighbours in a sample of the others, by a rule and by `also`.
class NeighborSample {
 public:
  NeighborSample(std::span<const std::uint64_t> appearances, const CodeColumns& codes, int level) : codes_(codes) {
    for (std::uint32_t i = 0; i < appearances.size(); ++i) {
      if (DenseGroups::level_of(appearances[i]) >= level) rows_.push_back(i);
    }
    sample_ = rows_of(codes, rows_);
  }

  template <typename Also>
  void mark(const MatchRule& rule, std::uint32_t many, const Also& also, std::vector<std::uint8_t>& marks,
            RunContext& context) const {
    if (rows_.size() < many) return;
    const auto met = std::make_unique<std::atomic<std::uint32_t>[]>(marks.size());
    for_each_pair(rule, {&codes_, 0, marks.size(), &sample_, rows_.size()}, context.engines(), context.budget,
                  [&](std::uint32_t i, std::uint32_t j) {
                    if (i != rows_[j] && also(i, rows_[j])) met[i].fetch_add(1, std::memory_order_relaxed);
                  });
    for (std::size_t i = 0; i < marks.size(); ++i) marks[i] |= static_cast<std::uint8_t>(met[i] >= many);
  }

 private:
  const CodeColumns& codes_;
  std::vector<std::uint32_t> rows_;
  CodeColumns sample_;
};

// Computes the minimum levels of the members of dense groups, at each distance.
class MinLevelCounter {
 public:
  static constexpr std::size_t kAtOnce = 8192;

  MinLevelCounter(std::span<const std::uint64_t> appearances, const CodeColumns& codes, const MatchRule& rule,
                  std::size_t at_once, RunContext& context)
      : appearances_(appearances),
        codes_(codes),
        rule_(rule),
        context_(context),
        reservation_(context.budget.reserve({at_once * (sizeof(Tally) + 2 * sizeof(ThumbnailCodes)) +
                                             (appearances.size() >> kFine) * 2 * sizeof(ThumbnailCodes)},
                                            kWhat)),
        tallies_(std::make_unique<Tally[]>(at_once)) {
    for (std::uint32_t i = 0; i < appearances.size(); ++i) {
      if (DenseGroups::level_of(appearances[i]) >= kFine) fine_.push_back(i);
    }
    codes_of_fine_ = rows_of(codes, fine_);
  }

  // Appends members for these rows, at most kAtOnce.
  void add_members(std::span<const std::uint32_t> rows, std::vector<DenseGroups::Member>& members) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (auto& levels : tallies_[i]) {
        for (auto& count : levels) count = 0;
      }
    }
    // Inside a dense group the neighbours of high level suffice.
    const CodeColumns queries = rows_of(codes_, rows);
    for_each_pair(rule_, {&queries, 0, rows.size(), &codes_of_fine_, fine_.size()}, context_.engines(), context_.budget,
                  [&](std::uint32_t i, std::uint32_t j) { count(i, rows[i], fine_[j], DenseGroups::kDistances); });
    std::vector<std::uint32_t> left, left_rows;
    std::size_t reach = 1;
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
      const std::size_t unknown = distances_with_few(tallies_[i]);
      if (unknown == 0) continue;
      reach = std::max(reach, unknown);
      left.push_back(i);
      left_rows.push_back(rows[i]);
    }
    if (!left.empty()) count_nearest(left, left_rows, reach);
    for (std::size_t i = 0; i < rows.size(); ++i) members.push_back({appearances_[rows[i]], levels_for(tallies_[i])});
  }

 private:
  static constexpr int kFine = 4;
  // Number of neighbours of one appearance, by distance and level.
  using Tally = std::array<std::array<std::atomic<std::uint32_t>, kMaxLevel + 1>, DenseGroups::kDistances>;

  void count(std::uint32_t at, std::uint32_t row, std::uint32_t other, std::size_t reach) const {
    if (row == other) return;
    const std::size_t d = distance_of(codes_.at(row), codes_.at(other));
    const auto level = static_cast<std::size_t>(DenseGroups::level_of(appearances_[other]));
    if (d < reach) tallies_[at][d][level].fetch_add(1, std::memory_order_relaxed);
  }

  // Counts the remaining neighbours nearer than `reach`; those of high level are already counted.
  void count_nearest(std::span<const std::uint32_t> left, std::span<const std::uint32_t> rows, std::size_t reach) {
    const CodeColumns queries = rows_of(codes_, rows);
    // Appearances that differ in this few bits in total differ in no more bits of one hash, and that is a faster
    // search.
    const int bits = (1 << (reach - 1)) - 1;
    constexpr int kFewBits = 7;
    const MatchRule nearest{{{{HashKind::dhash, bits}}}, false, ""};
    const bool few = bits <= kFewBits;
    for_each_pair(few ? nearest : rule_, {&queries, 0, rows.size(), &codes_, appearances_.size()}, context_.engines(),
                  context_.budget, [&](std::uint32_t i, std::uint32_t j) {
                    if (DenseGroups::level_of(appearances_[j]) >= kFine) return;
                    if (few && !holds(rule_, codes_.at(rows[i]), codes_.at(j))) return;
                    count(left[i], rows[i], j, reach);
                  });
  }

  // Returns the number of distances at which there are too few neighbours of high level to decide.
  static std::size_t distances_with_few(const Tally& tally) {
    std::uint64_t others = 0;
    for (std::size_t d = 0; d < tally.size(); ++d) {
      for (const auto& count : tally[d]) others += count;
      if (others > kMaxComparedPerDistance) return d;
    }
    return tally.size();
  }

  static DenseGroups::Levels levels_for(const Tally& tally) {
    DenseGroups::Levels out{};
    std::array<std::uint64_t, kMaxLevel + 1> near{};  // per level, at this distance or nearer
    for (std::size_t d = 0; d < tally.size(); ++d) {
      for (std::size_t level = 0; level < near.size(); ++level) near[level] += tally[d][level];
      std::uint64_t others = 0;
      std::size_t level = near.size();
      while (level > 0 && others + near[level - 1] <= kMaxComparedPerDistance) others += near[--level];
      out[d] = static_cast<std::uint8_t>(level);
    }
    return out;
  }

  const std::span<const std::uint64_t> appearances_;
  const CodeColumns& codes_;
  const MatchRule& rule_;
  RunContext& context_;
  const Reservation reservation_;
  std::vector<std::uint32_t> fine_;
  CodeColumns codes_of_fine_;
  const std::unique_ptr<Tally[]> tallies_;
};

}  // namespace

int DenseGroups::level_of(std::uint64_t thumbnail_digest) {
  return std::min(std::countr_zero(thumbnail_digest), kMaxLevel);
}

DenseGroups::DenseGroups(std::vector<Member> members) : members_(std::move(members)) {
  std::sort(members_.begin(), members_.end(),
            [](const Member& a, const Member& b) { return a.thumbnail_digest < b.thumbnail_digest; });
}

bool DenseGroups::holds(std::uint64_t thumbnail_digest) const {
  return std::binary_search(members_.begin(), members_.end(), Member{thumbnail_digest, {}},
                            [](const Member& x, const Member& y) { return x.thumbnail_digest < y.thumbnail_digest; });
}

DenseGroups::Levels DenseGroups::levels_of(std::uint64_t thumbnail_digest) const {
  const auto at = std::lower_bound(members_.begin(), members_.end(), thumbnail_digest,
                                   [](const Member& member, std::uint64_t l) { return member.thumbnail_digest < l; });
  return at != members_.end() && at->thumbnail_digest == thumbnail_digest ? at->levels : Levels{};
}

bool DenseGroups::are_compared(std::uint64_t a, const Levels& of_a, const ThumbnailCodes& codes_a, std::uint64_t b,
                               const Levels& of_b, const ThumbnailCodes& codes_b) {
  // Levels grow with the distance, so back() is the highest.
  if (level_of(a) >= of_b.back() || level_of(b) >= of_a.back()) return true;
  const std::size_t d = distance_of(codes_a, codes_b);
  return level_of(a) >= of_b[d] || level_of(b) >= of_a[d];
}

DenseGroups find_dense_groups(std::span<const std::uint64_t> appearances, const CodeColumns& codes,
                              const MatchRule& rule, RunContext& context) {
  Trace::Stage& stage = context.trace.stage("find dense groups", 1, "a smaller radius in --match");
  const Span span(stage);
  std::vector<std::uint8_t> is_dense(appearances.size(), 0);
  {
    const Reservation reservation =
        context.budget.reserve({appearances.size() * (1 + sizeof(std::uint32_t) + 2)}, kWhat);
    const auto is_close = [&](std::uint32_t i, std::uint32_t j) {
      return distance_of(codes.at(i), codes.at(j)) <= kMaxCloseDistance;
    };
    const MatchRule close{{{{HashKind::dhash, kMaxCloseBits}}}, false, ""};
    NeighborSample(appearances, codes, kCloseSampleLevel).mark(close, kMinCloseNeighbors, is_close, is_dense, context);
    const auto any = [](std::uint32_t, std::uint32_t) { return true; };
    NeighborSample(appearances, codes, kNearSampleLevel).mark(rule, kMinNearNeighbors, any, is_dense, context);
  }
  std::vector<std::uint32_t> dense_rows;
  for (std::uint32_t i = 0; i < appearances.size(); ++i) {
    if (is_dense[i] != 0) dense_rows.push_back(i);
  }
  if (dense_rows.empty()) return {};
  std::vector<DenseGroups::Member> members;
  members.reserve(dense_rows.size());
  MinLevelCounter tallying(appearances, codes, rule, std::min(MinLevelCounter::kAtOnce, dense_rows.size()), context);
  for (std::size_t begin = 0; begin < dense_rows.size(); begin += MinLevelCounter::kAtOnce)
    tallying.add_members(
        std::span(dense_rows).subspan(begin, std::min(MinLevelCounter::kAtOnce, dense_rows.size() - begin)), members);
  return DenseGroups(std::move(members));
}

}  // namespace millrace::dedupe
