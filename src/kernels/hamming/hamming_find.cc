#include "src/kernels/hamming/hamming_find.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "src/base/sizes.h"
#include "src/kernels/hamming/hamming_buckets.h"
#include "src/kernels/hamming/hamming_nodes.h"
#include "src/kernels/hamming/hamming_permute.h"
#include "src/kernels/hamming/hamming_words.h"

namespace millrace::hamming {
namespace {

// std::popcount() in portable code is a call and table look-ups.
std::uint32_t count_bits(std::uint64_t x) {
  x -= (x >> 1) & 0x5555555555555555u;
  x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
  x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
  return static_cast<std::uint32_t>((x * 0x0101010101010101u) >> 56);
}

// Turns the hits of one task into pairs: the exact distance, and only from the first part that
// finds the pair.
template <typename Code>
class Acceptor {
 public:
  Acceptor(const JoinPlan& plan, std::size_t part, const Sides<Code>& sides, const Buckets<Code>& a,
           const Buckets<Code>& b, int radius, const Executor& executor, PairTaker& taker)
      : plan_(plan),
        part_(part),
        sides_(sides),
        a_(a),
        b_(b),
        a_side_(a.side()),
        b_side_(b.side()),
        radius_(static_cast<std::uint32_t>(radius)),
        executor_(executor),
        taker_(taker) {}

  static bool accept(void* context, std::vector<Hit>& hits) {
    auto& self = *static_cast<Acceptor*>(context);
    // Hits of a 256-bit join lead to two codes anywhere in memory: they are fetched some hits
    // ahead.
    constexpr std::size_t kAhead = 8;
    for (std::size_t at = 0; at < hits.size(); ++at) {
      if (kWords64 < Code >> 1 && at + kAhead < hits.size()) {
        __builtin_prefetch(&self.sides_.a[self.a_.ids()[hits[at + kAhead].a]]);
        __builtin_prefetch(&self.sides_.b[self.b_.ids()[hits[at + kAhead].b]]);
      }
      self.take(hits[at]);
    }
    hits.clear();
    if (self.found_.size() >= kBlock) self.taker_.take(self.found_);
    return !self.executor_.cancelled();
  }
  void finish() { taker_.take(found_); }

 private:
  Code difference(const Hit& hit) const {
    Code x{};
    const Part& part = plan_.parts[part_];
    if (stored_columns<Code>(part) == kWords32<Code>) {
      // Everything lies in bucket order; the codes themselves would be two cache misses.
      for (std::size_t c = 0; c < static_cast<std::size_t>(kWords32<Code>); ++c) {
        const int w = part.columns[c];
        const std::uint64_t bits = a_side_.columns[c][hit.a] ^ b_side_.columns[c][hit.b];
        set_word64(x, w / 2, word64(x, w / 2) | bits << (32 * (w % 2)));
      }
      return x;
    }
    const Code& a = sides_.a[a_.ids()[hit.a]];
    const Code& b = sides_.b[b_.ids()[hit.b]];
    for (int w = 0; w < kWords64<Code>; ++w) set_word64(x, w, word64(a, w) ^ word64(b, w));
    return x;
  }

  void take(const Hit& hit) {
    const Code x = difference(hit);
    for (std::size_t q = 0; q < part_; ++q) {
      const Part& earlier = plan_.parts[q];
      std::uint64_t bits = word64(x, earlier.word) & earlier.mask();
      // Clearing the lowest bit `threshold` times instead of counting: portable code has no fast
      // count.
      for (int t = 0; t < earlier.threshold; ++t) bits &= bits - 1;
      if (bits == 0) return;
    }
    std::uint32_t d = 0;
    for (int w = 0; w < kWords64<Code>; ++w) d += count_bits(word64(x, w));
    if (d > radius_) return;
    std::uint32_t i = a_.ids()[hit.a], j = b_.ids()[hit.b];
    if (sides_.self && j < i) std::swap(i, j);
    if (sides_.also != nullptr && !(*sides_.also)(i, j)) return;
    found_.push_back({i, j, d});
  }

  const JoinPlan& plan_;
  const std::size_t part_;
  const Sides<Code>& sides_;
  const Buckets<Code>&a_, &b_;
  const Side a_side_, b_side_;
  const std::uint32_t radius_;
  const Executor& executor_;
  PairTaker& taker_;
  std::vector<Pair> found_;
};

// Pairs of codes that a part compares, exactly when that is cheap to count, else an upper bound
// (for each flip f, sum c[k] c[k ^ f] <= sum c[k]^2).
template <typename Code>
double candidates(const Buckets<Code>& a, const Buckets<Code>& b, bool self, std::span<const std::uint32_t> flips,
                  std::size_t codes, const Executor& executor) {
  const std::size_t buckets = a.starts().size() - 1;
  const auto size = [](const Buckets<Code>& side, std::size_t bucket) {
    return std::uint64_t{side.starts()[bucket + 1]} - side.starts()[bucket];
  };
  const bool exact =
      static_cast<double>(buckets) * static_cast<double>(flips.size()) < 8.0 * static_cast<double>(codes);
  std::atomic<std::uint64_t> own{0}, others{0};
  executor.parallel_for(buckets, 4096, [&](std::size_t from, std::size_t to) {
    std::uint64_t own_sum = 0, other_sum = 0;
    for (std::size_t bucket = from; bucket < to; ++bucket) {
      const std::uint64_t count = size(a, bucket);
      if (count == 0) continue;
      own_sum += count * (self ? count - 1 : size(b, bucket));
      if (!exact) continue;
      for (const std::uint32_t flip : flips) other_sum += count * size(b, bucket ^ flip);
    }
    own += own_sum;
    others += other_sum;
  });
  if (!self) return static_cast<double>(exact ? others.load() : own.load() * flips.size());
  return 0.5 * static_cast<double>(exact ? own.load() + others.load() : own.load() * (1 + flips.size()));
}

template <typename Code>
class Join {
 public:
  Join(const Sides<Code>& sides, const Options& options, const Executor& executor, PairTaker& taker)
      : sides_(sides), options_(options), executor_(executor), taker_(taker) {}

  // Runs every part of the plan; false when the parts turned out to compare more pairs than brute
  // force.
  bool run(const JoinPlan& plan, Layout layout) {
    const double all =
        static_cast<double>(sides_.a.size()) * static_cast<double>(sides_.b.size()) * (sides_.self ? 0.5 : 1);
    double compared = 0;
    for (std::size_t p = 0; p < plan.parts.size(); ++p) {
      const Part& part = plan.parts[p];
      a_.fill(sides_.a, part, layout, executor_);
      if (!sides_.self) b_.fill(sides_.b, part, layout, executor_);
      throw_if_cancelled(executor_);
      std::vector<std::uint32_t> flips = flips_of(part.width, part.threshold);
      if (!sides_.self) flips.insert(flips.begin(), 0);
      if (plan.algorithm == Algorithm::index) {
        compared += candidates(a_, b(), sides_.self, flips, sides_.a.size() + sides_.b.size(), executor_);
        if (compared > all) {
          taker_.clear();
          return false;
        }
      }
      match_part(plan, p, flips);
    }
    return true;
  }

 private:
  const Buckets<Code>& b() const { return sides_.self ? a_ : b_; }

  void match_part(const JoinPlan& plan, std::size_t p, std::span<const std::uint32_t> flips) {
    const Part& part = plan.parts[p];
    MatchTask common;
    common.a = a_.side();
    common.b = b().side();
    common.tested = part.tested;
    common.stored = stored_columns<Code>(part);
    common.radius = std::min(options_.radius, 8 * static_cast<int>(sizeof(Code)));
    common.self = sides_.self;
    common.flips = flips;
    const std::size_t n = sides_.a.size();
    // Small enough that the last task to end leaves the other threads idle for little, and a
    // multiple of a group.
    const std::size_t grain =
        std::clamp<std::size_t>(n / (64 * static_cast<std::size_t>(executor_.threads())), 64, 4096) / 4 * 4;
    executor_.parallel_for(n, grain, [&](std::size_t from, std::size_t to) {
      Acceptor<Code> acceptor(plan, p, sides_, a_, b(), options_.radius, executor_, taker_);
      MatchTask task = common;
      task.begin = from;
      task.end = to;
      task.first_bucket = a_.bucket_of(from);
      task.accept = &Acceptor<Code>::accept;
      task.context = &acceptor;
      match(task);
      acceptor.finish();
      if (options_.progress) options_.progress(to - from, n * plan.parts.size());
    });
    throw_if_cancelled(executor_);
  }

  const Sides<Code> sides_;
  const Options options_;
  const Executor& executor_;
  PairTaker& taker_;
  Buckets<Code> a_, b_;
};

}  // namespace

template <typename Code>
Problem problem_of(const Sides<Code>& sides, const Options& options, const Executor& executor) {
  if (options.radius < 0) throw Failure(ErrorCode::usage, "the radius must not be negative", "radius");
  Problem problem;
  problem.bits = 8 * static_cast<int>(sizeof(Code));
  problem.a = sides.a.size();
  problem.b = sides.b.size();
  problem.self = sides.self;
  problem.radius = std::min(options.radius, problem.bits);
  problem.threads = executor.threads();
  problem.wish = options.algorithm;
  problem.agree = agreement(sides.b);
  return problem;
}

template <typename Code>
Answer find_pairs(Sides<Code> sides, Code* own, const Options& options, const Executor& executor, Budget& budget,
                  PairTaker& taker) {
  Problem problem = problem_of(sides, options, executor);
  JoinPlan plan = choose_plan(problem);

  Buffer<Code> copies;
  Reservation copies_memory;
  if (plan.permuted) {
    if (own == nullptr) {
      copies_memory = budget.reserve({(sides.a.size() + sides.b.size()) * sizeof(Code)}, "codes with permuted bits");
      allocate(copies, sides.a.size() + sides.b.size());
      permute(sides.a, copies.data(), plan, executor);
      permute(sides.b, copies.data() + sides.a.size(), plan, executor);
      sides.a = {copies.data(), sides.a.size()};
      sides.b = {copies.data() + sides.a.size(), sides.b.size()};
    } else {
      permute(sides.a, own, plan, executor);
    }
  }

  const auto bytes = [&](Layout layout) -> Bytes {
    return {bucket_bytes<Code>(plan, sides.a.size(), layout) +
            (sides.self ? 0 : bucket_bytes<Code>(plan, sides.b.size(), layout))};
  };
  Layout layout = Layout::roomy;
  std::optional<Reservation> memory = budget.try_reserve(bytes(layout), "codes in bucket order");
  if (!memory) {
    layout = Layout::lean;
    memory = budget.reserve(bytes(layout), "codes in bucket order");
    plan.why += ", in the lean layout";
  }
  Join<Code> join(sides, options, executor, taker);
  if (!join.run(plan, layout)) {
    problem.wish = Algorithm::brute;
    const std::string tried = plan.why;
    plan = choose_plan(problem);
    plan.why += fmt::format(", because the codes are too alike for {}", tried);
    memory.reset();
    memory = budget.reserve(bytes(layout), "codes in order");
    join.run(plan, layout);
  }
  return {plan.algorithm, plan.why};
}

template Problem problem_of(const Sides<std::uint64_t>&, const Options&, const Executor&);
template Problem problem_of(const Sides<Code256>&, const Options&, const Executor&);
template Answer find_pairs(Sides<std::uint64_t>, std::uint64_t*, const Options&, const Executor&, Budget&, PairTaker&);
template Answer find_pairs(Sides<Code256>, Code256*, const Options&, const Executor&, Budget&, PairTaker&);

}  // namespace millrace::hamming
