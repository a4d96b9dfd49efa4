// Input: the number of synthetic pictures, and the number of those that are compared with all others by their pixels.
// Output: a report of the pairs whose pixels match but that `auto` does not propose.
// Never: leaves out a pair because of its hashes.
#pragma once

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "src/base/mutex.h"
#include "src/jobs/dedupe/match/candidates.h"
#include "src/jobs/dedupe/synthetic_pictures_for_bench.h"

namespace millrace::dedupe::recall {

struct Collection {
  std::vector<similarity::Features> features;
  std::vector<ThumbnailCodes> codes;

  Collection(std::size_t count, const Executor& executor) : features(count), codes(count) {
    executor.parallel_for(count, 64, [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        const similarity::Thumbnail pixels = synthetic::pixels_of(synthetic::picture(i));
        features[i] = similarity::features_of(pixels);
        codes[i] = compute_thumbnail_codes(pixels.data());
      }
    });
  }
};

// A pair, a < b.
struct Pair {
  std::uint32_t a = 0, b = 0;
  friend bool operator<(const Pair& x, const Pair& y) { return x.a != y.a ? x.a < y.a : x.b < y.b; }
};

struct ComparedRows {
  std::vector<Pair> same;  // sorted
  std::uint64_t pairs = 0, in_full = 0;
};

// Picks rows evenly, and compares each with all pictures; a pair of two picked rows is compared once.
inline ComparedRows compare_rows(const Collection& all, std::size_t rows, const Executor& executor) {
  const std::size_t count = all.features.size();
  const auto place_of = [&](std::size_t row) { return row * count / rows; };
  std::vector<bool> picked(count, false);
  for (std::size_t r = 0; r < rows; ++r) picked[place_of(r)] = true;
  // similarity::same() skips steps that cannot change its answer. One pair in so many is compared in full, to check
  // that both agree.
  constexpr std::size_t kInFull = 1009;
  ComparedRows out;
  std::atomic<std::uint64_t> pairs = 0, in_full = 0;
  Mutex mutex;
  // Sixteen pictures stay in the L2 cache while all rows are compared with them.
  executor.parallel_for((count + 15) / 16, 1, [&](std::size_t from, std::size_t to) {
    std::vector<Pair> same;
    std::uint64_t found = 0, checked = 0;
    for (std::size_t lot = from; lot < to; ++lot) {
      for (std::size_t r = 0; r < rows; ++r) {
        const std::size_t row = place_of(r);
        for (std::size_t i = 16 * lot; i < std::min(count, 16 * lot + 16); ++i) {
          if (i == row || (picked[i] && i < row)) continue;
          const similarity::Features &a = all.features[i], &b = all.features[row];
          const bool same_picture = similarity::same(a, b);
          if (same_picture)
            same.push_back(
                {static_cast<std::uint32_t>(std::min(i, row)), static_cast<std::uint32_t>(std::max(i, row))});
          if ((i * count + row) % kInFull == 0) {
            ++checked;
            if (same_picture != (similarity::compare(a, b).kind == similarity::SimilarityKind::same)) {
              fmt::print(stderr, "same() and compare() disagree on {} and {}\n", row, i);
              std::exit(1);
            }
          }
          ++found;
        }
      }
    }
    pairs += found;
    in_full += checked;
    const MutexLock lock(mutex);
    out.same.insert(out.same.end(), same.begin(), same.end());
  });
  std::sort(out.same.begin(), out.same.end());
  out.pairs = pairs;
  out.in_full = in_full;
  return out;
}

// Distances that the rule sees: differing bits of dhash and phash. They are taken between the wholes, and in the
// closest view of the rule (whole to whole, or whole to middle in either direction).
struct Distance {
  int dhash, phash;
};
inline Distance distance_between_wholes(const ThumbnailCodes& a, const ThumbnailCodes& b) {
  return {std::popcount(a[0] ^ b[0]), std::popcount(a[3] ^ b[3])};
}
inline Distance closest_distance(const ThumbnailCodes& a, const ThumbnailCodes& b) {
  Distance best = distance_between_wholes(a, b);
  for (const Distance& d : {Distance{std::popcount(a[0] ^ b[4]), std::popcount(a[3] ^ b[5])},
                            Distance{std::popcount(a[4] ^ b[0]), std::popcount(a[5] ^ b[3])}}) {
    if (d.phash < best.phash) best = d;
  }
  return best;
}

// Relation of two pictures by their construction.
enum class Relation { version, versions, solid, strangers };
constexpr std::array<const char*, 4> kRelations = {"an edited version and its original", "two versions of one picture",
                                                   "strangers, one of them solid: by mean colour",
                                                   "strangers, by structure: the verifier is wrong"};
inline Relation relation_of(const Collection& all, const Pair& pair) {
  const auto of_a = synthetic::original_of(pair.a), of_b = synthetic::original_of(pair.b);
  if (of_b == pair.a && !of_a) return Relation::version;
  if (of_a.value_or(pair.a) == of_b.value_or(pair.b)) return Relation::versions;
  return all.features[pair.a].solid || all.features[pair.b].solid ? Relation::solid : Relation::strangers;
}

struct LostPairs {
  std::uint64_t all = 0, lost = 0;
  std::array<std::uint64_t, 65> by_phash{};  // lost pairs by the bits of phash

  void add(bool missed, int phash) {
    ++all;
    if (!missed) return;
    ++lost;
    ++by_phash[static_cast<std::size_t>(phash)];
  }
  std::string text() const {
    return fmt::format("{} of {} ({:.2f} %)", lost, all,
                       all == 0 ? 0.0 : 100.0 * static_cast<double>(lost) / static_cast<double>(all));
  }
  // Returns the distances in steps of eight.
  std::string distances() const {
    std::string out;
    for (std::size_t low = 0; low < 64; low += 8) {
      const auto from = by_phash.begin() + static_cast<std::ptrdiff_t>(low) + 1;
      const std::uint64_t some = std::accumulate(from, from + 8, low == 0 ? by_phash[0] : 0);
      if (some > 0)
        out += fmt::format("{}{} at {} to {}", out.empty() ? "" : ", ", some, low == 0 ? 0 : low + 1, low + 8);
    }
    return out;
  }
};

// Returns the CPU time of all threads, which other load on the machine lengthens less than the elapsed time.
inline double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec) + 1e-6 * static_cast<double>(used.ru_utime.tv_usec);
}

inline void report(std::size_t count, std::size_t rows, RunContext& context) {
  using Clock = std::chrono::steady_clock;
  const Collection all(count, context.executor);
  const auto start = Clock::now();
  const double cpu_start = cpu_seconds();
  const ComparedRows compared = compare_rows(all, rows, context.executor);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count(), cpu = cpu_seconds() - cpu_start;
  const MatchRule rule = parse_rule("auto", true);
  CandidateIndex index(rule, context);
  for (std::size_t i = 0; i < count; ++i) index.add(i, all.codes[i]);
  const CandidatePairs found = index.search(0, index.rows());
  const auto is_proposed = [&](const Pair& pair) {
    const auto at = std::lower_bound(found.pairs.begin(), found.pairs.end(), pair, [](const RowPair& p, const Pair& v) {
      return std::pair(p.a, p.b) < std::pair(v.a, v.b);
    });
    return at != found.pairs.end() && at->a == pair.a && at->b == pair.b;
  };
  std::array<LostPairs, kRelations.size()> by_relation;
  LostPairs total;
  std::vector<Pair> related;
  for (const Pair& pair : compared.same) {
    const bool missed = !is_proposed(pair);
    const Relation relation = relation_of(all, pair);
    const int phash = closest_distance(all.codes[pair.a], all.codes[pair.b]).phash;
    total.add(missed, phash);
    by_relation[static_cast<std::size_t>(relation)].add(missed, phash);
    if (missed && relation < Relation::solid) related.push_back(pair);
  }
  fmt::print(
      "{} of {} pictures against all: {} pairs in {:.0f} s, {:.1f} us of CPU time each; {} also measured in full\n",
      rows, count, compared.pairs, seconds, 1e6 * cpu / static_cast<double>(compared.pairs), compared.in_full);
  fmt::print("the same by their pixels, and not proposed by `auto` ({} candidates): {}\n", found.pairs.size(),
             total.text());
  for (std::size_t k = 0; k < by_relation.size(); ++k) {
    const LostPairs& some = by_relation[k];
    fmt::print("  {}: {}{}{}\n", kRelations[k], some.text(), some.lost > 0 ? "; phash differs in bits " : "",
               some.distances());
  }
  for (const Pair& pair : related) {
    const ThumbnailCodes &a = all.codes[pair.a], &b = all.codes[pair.b];
    fmt::print("  lost: {:>6} {:>6}, dhash and phash differ in {:2} and {:2} bits, at the closest in {:2} and {:2}\n",
               pair.a, pair.b, distance_between_wholes(a, b).dhash, distance_between_wholes(a, b).phash,
               closest_distance(a, b).dhash, closest_distance(a, b).phash);
  }
}

}  // namespace millrace::dedupe::recall
