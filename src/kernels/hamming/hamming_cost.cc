#include "src/kernels/hamming/hamming_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>

#include "src/base/sizes.h"

namespace millrace::hamming {
namespace {

// Nanoseconds on one thread of a Zen 4 core at AVX-512; other levels differ mostly by a common factor, which does not
// change the choice. They were fitted with hamming_bench to nine forced plans each at 100 k, 1 M and 10 M uniform codes
// of 64 bits, r = 5, on two threads. Measured whole joins of 10 M codes: three parts of 17, 18, 19, 20, 21 bits with
// one different take 1.14, 0.71, 0.63, 0.62, 0.85 s (the model expects 0.47 s of the parts of 19, without collapsing).
// Two parts of 21 bits with two different take 2.6 s. For 1 M codes, three parts of 13, 14, 15, 16 bits take 113, 85,
// 52, 60 ms. kHitNs is an estimate. The model knows bits, not clusters: near misses cost extra, up to five times at 256
// bits.
constexpr double kVectorNs = 2.3;       // 4 codes against 16, a column
constexpr double kMoreColumnsNs = 1.6;  // each further column
constexpr double kVisitNs = 5.0;        // finding one pair of buckets
constexpr double kFarVisitNs = 12.0;    // when its codes are not in the second-level cache
constexpr double kHitNs = 80.0;         // a pair that passes the tested columns by chance
constexpr double kSortNs = 6.0;         // one code into its bucket, small collections
constexpr double kFarSortNs = 8.0;      // the same through memory
constexpr double kSecondSortNs = 3.5;   // the second step of a wide part
constexpr double kStartNs = 1.0;        // one bucket's start
constexpr double kPartNs = 30000;       // beginning a part: tasks, allocation
constexpr int kMaxWidth = 24;
constexpr double kCacheBytes = 1 << 20;

double block_ns(int tested) { return kVectorNs + (tested - 1) * kMoreColumnsNs; }

// Returns P(at most k of `bits` fair bits differ).
double fair_tail(int bits, int k) {
  double term = std::pow(0.5, bits), sum = 0;
  for (int i = 0; i <= std::min(k, bits); ++i) {
    sum += term;
    term *= static_cast<double>(bits - i) / (i + 1);
  }
  return std::min(1.0, sum);
}

// Returns the fewest columns for which a block of 64 pairs passes by chance less than once in a hundred.
int columns_to_test(int free_bits_in_first, int bits, int radius) {
  const int columns = bits / 32;
  for (const int tested : {1, 2, 3, 4, 8}) {
    if (tested >= columns) break;
    // A word has fewer than 32 free bits where bits are skewed or belong to the part.
    const int free_bits = free_bits_in_first + 32 * (tested - 1);
    if (64 * fair_tail(free_bits, radius) < 0.01) return tested;
  }
  return columns;
}

double flips_count(int width, int threshold) {
  double term = 1, sum = 0;
  for (int i = 1; i <= threshold; ++i) {
    term *= static_cast<double>(width - i + 1) / i;
    sum += term;
  }
  return sum;
}

// Returns the nanoseconds for one part of `width` bits that agree with probability `agree` each.
double part_ns(const JoinProblem& p, int width, int threshold, double agree, int tested) {
  const double buckets = std::pow(2.0, width);
  // Skewed bits fill fewer buckets with more codes.
  const double effective = std::pow(1 / agree, width);
  const double a = static_cast<double>(p.a), b = static_cast<double>(p.b);
  const double bytes = (b + (p.self ? 0 : a)) * (4 + p.bits / 8.0);
  const bool far = bytes > kCacheBytes;
  const double sorted = p.self ? a : a + b;
  double ns = kPartNs + sorted * (far ? kFarSortNs : kSortNs) + buckets * kStartNs * (p.self ? 1 : 2);
  if (width > 11) ns += sorted * kSecondSortNs;
  const double in_a = a / effective, in_b = b / effective;
  const double used = effective * (1 - std::exp(-in_a));
  const double mean_a = a / used;
  const double mean_b = std::max(1.0, in_b + (p.self ? 1 - std::exp(-in_b) : 0));
  const double groups = std::floor(mean_a / 4) + 0.75 * std::min(3.0, std::fmod(mean_a, 4.0));
  const double vectors = mean_b / 16 + 0.5;
  const double present = 1 - std::exp(-in_b);  // partner buckets that hold something
  const double half = p.self ? 0.5 : 1;
  double meetings = half;  // with the code's bucket itself
  double differ = 1;
  double others = 0;
  for (int t = 1; t <= threshold; ++t) {
    differ *= (1 - agree) / agree * (width - t + 1) / t;
    others += differ;
  }
  const double flips = flips_count(width, threshold);
  meetings += half * others * present;
  ns += used * meetings * std::max(0.5, groups) * vectors * block_ns(tested);
  ns += used * meetings * mean_a * mean_b * fair_tail(32 * tested, p.radius) * kHitNs;
  ns += used * half * flips * ((far && width > 8 ? kFarVisitNs : kVisitNs) * (0.3 + 0.7 * present));
  return ns;
}

struct Shape {
  int low_threshold = 0, low_parts = 0, low_width = 0;
  int wider = 0;                       // number of low parts that are one bit wider
  int high_parts = 0, high_width = 0;  // their threshold is low_threshold + 1
  double ns = 0;
};

// Puts parts into 64-bit words, widest first; returns nothing when they do not fit without crossing words.
std::optional<std::vector<IndexPart>> lay_out(const Shape& shape, int bits) {
  std::vector<IndexPart> parts;
  for (int i = 0; i < shape.low_parts; ++i) {
    parts.push_back({0, 0, shape.low_width + (i < shape.wider ? 1 : 0), shape.low_threshold, 0, {}, 1});
  }
  for (int i = 0; i < shape.high_parts; ++i) {
    parts.push_back({0, 0, shape.high_width, shape.low_threshold + 1, 0, {}, 1});
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const IndexPart& x, const IndexPart& y) { return x.width > y.width; });
  std::vector<int> used(static_cast<std::size_t>(bits / 64), 0);
  for (IndexPart& part : parts) {
    const auto word = std::min_element(used.begin(), used.end());
    if (*word + part.width > 64) return std::nullopt;
    part.word = static_cast<int>(word - used.begin());
    part.shift = *word;
    *word += part.width;
    if (bits == 64) part.rotation = *word % 64;
  }
  return parts;
}

std::optional<Shape> best_shape(const JoinProblem& p, int usable_bits, double agree) {
  std::optional<Shape> best;
  const int most = std::min(kMaxWidth, usable_bits);
  const int tested = columns_to_test(static_cast<int>(32 * -std::log2(agree)), p.bits, p.radius);
  std::vector<std::vector<double>> ns(4, std::vector<double>(static_cast<std::size_t>(most + 1)));
  for (int t = 0; t < 4; ++t) {
    for (int w = 1; w <= most; ++w) {
      ns[static_cast<std::size_t>(t)][static_cast<std::size_t>(w)] = part_ns(p, w, t, agree, tested);
    }
  }
  for (int t = 0; t <= 2; ++t) {
    const auto& low = ns[static_cast<std::size_t>(t)];
    const auto& high = ns[static_cast<std::size_t>(t + 1)];
    for (int highs = 0; highs * (t + 2) <= p.radius + 1; ++highs) {
      const int rest = p.radius + 1 - highs * (t + 2);
      if (rest % (t + 1) != 0) continue;
      const int lows = rest / (t + 1);
      if (lows + highs > usable_bits) continue;
      for (int w = lows > 0 ? 1 : 0; w <= (lows > 0 ? most : 0); ++w) {
        int limit = 0;
        if (highs > 0) {
          limit = std::min(most, (usable_bits - lows * w) / highs);
          if (limit < 1) break;
        } else if (lows * w > usable_bits) {
          break;
        }
        for (int v = highs > 0 ? 1 : 0; v <= limit; ++v) {
          const auto try_shape = [&](const Shape& shape) {
            if ((!best || shape.ns < best->ns) && lay_out(shape, p.bits)) best = shape;
          };
          const double ns = lows * low[static_cast<std::size_t>(w)] + highs * high[static_cast<std::size_t>(v)];
          try_shape({t, lows, w, 0, highs, v, ns});
          // Bits that are left over, where all parts have one width, make some of them wider.
          const int wider = usable_bits - lows * w;
          if (highs == 0 && w < most && wider > 0 && wider < lows) {
            const double more = low[static_cast<std::size_t>(w + 1)] - low[static_cast<std::size_t>(w)];
            try_shape({t, lows, w, wider, 0, 0, ns + wider * more});
          }
        }
      }
    }
  }
  return best;
}

// Distributes the most informative bits over the parts, so that each gets its share; skewed bits end up outside or
// spread.
void assign_bits(const JoinProblem& p, JoinPlan& plan) {
  std::vector<int> order(static_cast<std::size_t>(p.bits));
  std::iota(order.begin(), order.end(), 0);
  // Bits within a twentieth count as equal and keep their order, so that even codes need no
  // permutation of theirs.
  std::stable_sort(order.begin(), order.end(), [&](int x, int y) {
    return std::lround(20 * p.agree[static_cast<std::size_t>(x)]) <
           std::lround(20 * p.agree[static_cast<std::size_t>(y)]);
  });
  const bool even = std::all_of(p.agree.begin(), p.agree.end(), [](double agree) { return agree < 0.55; });
  plan.bit_at.resize(static_cast<std::size_t>(p.bits));
  std::iota(plan.bit_at.begin(), plan.bit_at.end(), std::uint8_t{0});
  plan.permuted = !even;
  if (even) return;
  std::vector<int> source(static_cast<std::size_t>(p.bits), -1);
  std::size_t next = 0;
  for (int round = 0; round < 64; ++round) {
    for (const IndexPart& part : plan.parts) {
      if (round >= part.width) continue;
      source[static_cast<std::size_t>(64 * part.word + part.shift + round)] = order[next++];
    }
  }
  for (int& bit : source) {
    if (bit < 0) bit = order[next++];
  }
  for (std::size_t at = 0; at < source.size(); ++at) plan.bit_at[at] = static_cast<std::uint8_t>(source[at]);
}

// Returns the number of informative bits that a 32-bit word has outside the part.
double free_bits(const JoinProblem& p, const JoinPlan& plan, const IndexPart& part, int column) {
  double sum = 0;
  for (int stored = 32 * column; stored < 32 * column + 32; ++stored) {
    const int bit = stored / 64 * 64 + (stored + part.rotation) % 64;
    const int at = bit - 64 * part.word;
    if (at >= part.shift && at < part.shift + part.width) continue;
    sum += -std::log2(p.agree[plan.bit_at[static_cast<std::size_t>(bit)]]);
  }
  return sum;
}

void order_columns(const JoinProblem& p, const JoinPlan& plan, IndexPart& part) {
  part.columns.resize(static_cast<std::size_t>(p.bits / 32));
  std::iota(part.columns.begin(), part.columns.end(), 0);
  const auto free_of = [&](int column) { return static_cast<int>(free_bits(p, plan, part, column)); };
  std::stable_sort(part.columns.begin(), part.columns.end(), [&](int x, int y) { return free_of(x) > free_of(y); });
  part.tested = columns_to_test(free_of(part.columns[0]), p.bits, p.radius);
}

std::string words_for(const JoinPlan& plan) {
  std::string text;
  for (std::size_t at = 0; at < plan.parts.size();) {
    const IndexPart& part = plan.parts[at];
    std::size_t same = at;
    while (same < plan.parts.size() && plan.parts[same].width == part.width &&
           plan.parts[same].threshold == part.threshold) {
      ++same;
    }
    text += fmt::format("{}{} of {} bits with at most {} different", text.empty() ? "" : ", ", same - at, part.width,
                        part.threshold);
    at = same;
  }
  return text;
}

}  // namespace

double compare_seconds(double pairs, int tested) { return pairs / 64 * block_ns(tested) * 1e-9; }

std::vector<std::uint32_t> list_flips(int width, int threshold) {
  std::vector<std::uint32_t> flips;
  const std::uint32_t end = std::uint32_t{1} << width;
  // Gosper's method leads from one number with k bits to the next, for each k.
  for (int k = 1; k <= std::min(threshold, width); ++k) {
    for (std::uint32_t flip = (std::uint32_t{1} << k) - 1; flip < end;) {
      flips.push_back(flip);
      const std::uint32_t lowest = flip & (~flip + 1), ripple = flip + lowest;
      flip = ripple | (((flip ^ ripple) >> 2) / lowest);
    }
  }
  std::sort(flips.begin(), flips.end());
  return flips;
}

JoinPlan choose_plan(const JoinProblem& p) {
  JoinPlan brute;
  brute.parts.resize(1);
  brute.bit_at.resize(static_cast<std::size_t>(p.bits));
  std::iota(brute.bit_at.begin(), brute.bit_at.end(), std::uint8_t{0});
  order_columns(p, brute, brute.parts[0]);
  const double pairs = static_cast<double>(p.a) * static_cast<double>(p.b) / (p.self ? 2 : 1);
  brute.seconds = compare_seconds(pairs, brute.parts[0].tested) / p.threads;
  brute.brute_seconds = brute.seconds;
  brute.what = fmt::format("brute force compares {} pairs", group_digits(static_cast<std::uint64_t>(pairs)));
  brute.why = fmt::format("{}, {} expected", brute.what, format_short_duration(brute.seconds));
  if (p.wish == Algorithm::brute || p.radius >= p.bits) return brute;

  int usable = 0;
  double information = 0;
  for (const double agree : p.agree) {
    if (agree > 0.97) continue;
    ++usable;
    information -= std::log2(agree);
  }
  if (usable == 0) return brute;
  const double agree = std::pow(2.0, -information / usable);
  const std::optional<Shape> shape = best_shape(p, usable, agree);
  if (!shape) return brute;
  JoinPlan plan;
  plan.algorithm = Algorithm::index;
  plan.seconds = shape->ns * 1e-9 / p.threads;
  plan.brute_seconds = brute.seconds;
  if (p.wish == Algorithm::automatic && plan.seconds >= brute.seconds) return brute;
  plan.parts = *lay_out(*shape, p.bits);
  assign_bits(p, plan);
  for (IndexPart& part : plan.parts) order_columns(p, plan, part);
  plan.what = fmt::format("an index of parts ({})", words_for(plan));
  plan.why = fmt::format("{}, {} expected against {} for brute force", plan.what, format_short_duration(plan.seconds),
                         format_short_duration(brute.seconds));
  return plan;
}

}  // namespace millrace::hamming
