#include "src/kernels/hamming/hamming_index_part.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "src/kernels/hamming/hamming_nodes.h"
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

// Turns the hits of one task into pairs: computes the exact distance, and keeps a pair only in the first part that
// finds it.
template <typename Code>
class Acceptor {
 public:
  Acceptor(const JoinPlan& plan, std::size_t part, const JoinSides<Code>& sides, const Buckets<Code>& a,
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
    // Hits of a 256-bit join lead to two codes anywhere in memory: they are fetched some hits ahead.
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
    const IndexPart& part = plan_.parts[part_];
    if (stored_columns<Code>(part) == kWords32<Code>) {
      // The words all lie in bucket order; the codes themselves would be two cache misses.
      for (std::size_t c = 0; c < static_cast<std::size_t>(kWords32<Code>); ++c) {
        const int w = part.columns[c];
        const std::uint64_t bits = a_side_.columns[c][hit.a] ^ b_side_.columns[c][hit.b];
        set_word64(x, w / 2, word64(x, w / 2) | bits << (32 * (w % 2)));
      }
      if constexpr (kWords64<Code> == 1) set_word64(x, 0, std::rotl(word64(x, 0), part.rotation));
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
      const IndexPart& previous = plan_.parts[q];
      std::uint64_t bits = word64(x, previous.word) & previous.mask();
      // The lowest bit is cleared `threshold` times instead of counting: portable code has no fast count.
      for (int t = 0; t < previous.threshold; ++t) bits &= bits - 1;
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
  const JoinSides<Code>& sides_;
  const Buckets<Code>&a_, &b_;
  const BucketSide a_side_, b_side_;
  const std::uint32_t radius_;
  const Executor& executor_;
  PairTaker& taker_;
  std::vector<HammingPair> found_;
};

// Returns the number of pairs of codes that a part compares. It is exact when that is cheap to count, else an upper
// bound (for each flip f, sum c[k] c[k ^ f] <= sum c[k]^2).
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

}  // namespace

template <typename Code>
void IndexPartJoin<Code>::fill(const JoinPlan& plan, std::size_t part, BucketLayout layout) {
  plan_ = &plan;
  part_ = part;
  buckets_.a.fill(sides_.a, plan.parts[part], layout, executor_);
  if (!sides_.self) buckets_.b.fill(sides_.b, plan.parts[part], layout, executor_);
  flips_ = list_part_flips(plan.parts[part], sides_.self);
}

template <typename Code>
double IndexPartJoin<Code>::candidates() const {
  return hamming::candidates(buckets_.a, b(), sides_.self, std::span<const std::uint32_t>(flips_),
                             sides_.a.size() + sides_.b.size(), executor_);
}

template <typename Code>
void IndexPartJoin<Code>::match(const IndexPartRange& range, PairTaker& taker,
                                const std::function<void(std::size_t)>& done) const {
  const IndexPart& part = plan_->parts[part_];
  MatchTask common;
  common.a = buckets_.a.side();
  common.b = b().side();
  common.tested = part.tested;
  common.stored = stored_columns<Code>(part);
  common.radius = std::min(radius_, 8 * static_cast<int>(sizeof(Code)));
  common.self = sides_.self;
  common.flips = flips_;
  // A range of side b, of brute force, is a bucket of its own, or the end of the one bucket that both sides are.
  const std::uint32_t starts_of_b[2] = {static_cast<std::uint32_t>(range.b_begin),
                                        static_cast<std::uint32_t>(range.b_end)};
  const std::uint32_t starts_of_both[2] = {0, static_cast<std::uint32_t>(range.b_end)};
  const std::uint32_t whole[1] = {0};
  if (range.b_end > 0 && sides_.self && range.b_begin < range.end) {
    common.a.starts = common.b.starts = starts_of_both;
  } else if (range.b_end > 0) {
    common.b.starts = starts_of_b;
    common.self = false;
    common.flips = whole;
  }
  const std::size_t n = range.end - range.begin;
  // Grain of a task: so small that the last task to end leaves the other threads idle for little, and a multiple of a
  // group.
  const std::size_t grain =
      std::clamp<std::size_t>(n / (64 * static_cast<std::size_t>(executor_.threads())), 64, 4096) / 4 * 4;
  executor_.parallel_for(n, grain, [&](std::size_t from, std::size_t to) {
    Acceptor<Code> acceptor(*plan_, part_, sides_, buckets_.a, b(), radius_, executor_, taker);
    MatchTask task = common;
    task.begin = range.begin + from;
    task.end = range.begin + to;
    task.first_bucket = buckets_.a.bucket_of(task.begin);
    task.accept = &Acceptor<Code>::accept;
    task.context = &acceptor;
    hamming::match(task);
    acceptor.finish();
    if (done) done(to - from);
  });
  throw_if_cancelled(executor_);
}

std::vector<std::uint32_t> list_part_flips(const IndexPart& part, bool self) {
  std::vector<std::uint32_t> flips = list_flips(part.width, part.threshold);
  if (!self) flips.insert(flips.begin(), 0);
  return flips;
}

template <typename Code>
bool is_index_too_dense(const JoinSides<Code>& sides, const JoinPlan& plan) {
  constexpr std::size_t kSample = 1 << 16;
  const std::size_t sampled = std::min(sides.b.size(), kSample);
  if (sampled < 2) return false;
  std::vector<std::uint64_t> keys(sampled);
  double share = 0;
  for (const IndexPart& part : plan.parts) {
    for (std::size_t k = 0; k < sampled; ++k) {
      keys[k] = word64(sides.b[k * sides.b.size() / sampled], part.word) & part.mask();
    }
    std::sort(keys.begin(), keys.end());
    std::uint64_t meetings = 0, run = 0;
    for (std::size_t k = 0; k < sampled; ++k) {
      run = k > 0 && keys[k] == keys[k - 1] ? run + 1 : 0;
      meetings += 2 * run;
    }
    share += static_cast<double>(meetings) / static_cast<double>(sampled) / static_cast<double>(sampled - 1) *
             static_cast<double>(1 + list_part_flips(part, true).size());
  }
  return share > 1;
}

template bool is_index_too_dense(const JoinSides<std::uint64_t>&, const JoinPlan&);
template bool is_index_too_dense(const JoinSides<Code256>&, const JoinPlan&);
template class IndexPartJoin<std::uint64_t>;
template class IndexPartJoin<Code256>;

}  // namespace millrace::hamming
