#include "src/kernels/hamming/hamming_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "src/device/batches.h"
#include "src/device/queue.h"
#include "src/kernels/hamming/hamming_entries.h"
#include "src/kernels/hamming/hamming_known.h"
#include "src/kernels/hamming/hamming_nodes.h"
#include "src/kernels/hamming/hamming_part.h"
#include "src/kernels/hamming/hamming_words.h"

namespace millrace::hamming {
namespace {

// Pairs of codes that a batch compares: some milliseconds of a large device, whose counter of hits has 32 bits; and
// what the CPU compares once more in about five.
constexpr std::uint64_t kMostPairs = std::uint64_t{1} << 31, kCheckedPairs = std::uint64_t{1} << 28;
// Hits for which there is room, and hits that wait for a check: 48 MiB.
constexpr std::uint64_t kMostHits = std::uint64_t{1} << 22, kFewestHits = 1 << 12;
constexpr std::uint64_t kFewestRows = 1 << 12, kFewCodes = 1 << 16;
// Codes of side b that one block passes.
constexpr std::uint32_t kSpan = 1 << 11;

// What a batch found, in the order of hits.
struct FoundPairs {
  std::vector<Pair> list;
  Reservation memory;
};

bool same_pairs(const FoundPairs& x, const FoundPairs& y) {
  std::vector<Pair> a = x.list, b = y.list;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

// Takes what a range of a part brings together on the CPU.
class Gathered : public PairTaker {
 public:
  void take(std::vector<Pair>& pairs) override {
    const std::lock_guard lock(mutex_);
    list_.insert(list_.end(), pairs.begin(), pairs.end());
    pairs.clear();
  }
  void clear() override { list_.clear(); }
  std::vector<Pair>& list() { return list_; }

 private:
  std::mutex mutex_;
  std::vector<Pair> list_;
};

template <typename Code>
std::span<const std::uint32_t> words_of(std::span<const Code> codes) {
  return {reinterpret_cast<const std::uint32_t*>(codes.data()), codes.size() * kWords32<Code>};
}

// The room for hits and how many there are.
class HitBuffer {
 public:
  HitBuffer(Accelerator& accelerator, std::uint64_t hits)
      : hits_(accelerator, 3 * hits, "hits"), count_(accelerator, 1, "how many hits") {}

  DeviceBuffer<std::uint32_t>& hits() { return hits_; }
  DeviceBuffer<std::uint32_t>& count() { return count_; }
  std::uint32_t capacity() const { return static_cast<std::uint32_t>(hits_.size() / 3); }
  void empty(Queue& queue) { queue.fill(count_, 0); }
  // OutOfMemory where there were more than the room is for. Their rows are what the device says.
  FoundPairs take(Queue& queue, Budget& budget) {
    std::uint32_t count = 0;
    queue.download(count_, std::span(&count, 1));
    if (count > capacity())
      throw OutOfMemory(ErrorCode::out_of_memory, "more pairs than there is room for", "the device");
    FoundPairs out;
    out.memory = budget.reserve({count * sizeof(Pair)}, "pairs found on a device");
    out.list.resize(count);
    static_assert(sizeof(Pair) == 3 * sizeof(std::uint32_t));
    queue.download(hits_, std::span(reinterpret_cast<std::uint32_t*>(out.list.data()), std::size_t{3} * count));
    return out;
  }

 private:
  DeviceBuffer<std::uint32_t> hits_, count_;
};

// As many as there is room for in a share of the device's memory.
std::uint64_t room_for_hits(Accelerator& accelerator) {
  return std::clamp(accelerator.free_memory().count / 4 / sizeof(Pair), kFewestHits, kMostHits);
}

// What both ways have in common: batches that either side can do, brought to the taker in order.
template <typename Code>
class OnDevice {
 public:
  OnDevice(const Sides<Code>& sides, const JoinPlan& plan, const Options& options, const Executor& executor,
           Accelerator& accelerator, Budget& budget, PairTaker& taker)
      : sides_(sides),
        plan_(plan),
        options_(options),
        executor_(executor),
        accelerator_(accelerator),
        budget_(budget),
        taker_(taker),
        all_pairs_{sides.a, sides.b, sides.self, nullptr},
        part_(all_pairs_, options.radius, executor) {}

 protected:
  void run(const KernelEntry& entry, BatchedWork<FoundPairs>& work) {
    work.same = same_pairs;
    work.keep = [this](FoundPairs found) { keep(found); };
    work.weight = [](const FoundPairs& found) { return found.list.size(); };
    work.most_waiting = kMostHits;
    work.advance = [&](std::uint64_t more) {
      if (options_.progress) options_.progress(more, work.items);
    };
    run_batches(accelerator_, entry, work);
  }

  // A hit is believed when it is one: memory of the device that went wrong must not become rows that there are not.
  // What a device did not find, a check finds (src/device/batches.h).
  void confirm(std::span<const Pair> found) const {
    executor_.parallel_for(found.size(), std::size_t{1} << 14, [&](std::size_t from, std::size_t to) {
      for (const Pair& pair : found.subspan(from, to - from)) {
        const bool there = pair.i < sides_.a.size() && pair.j < sides_.b.size() && (!sides_.self || pair.i < pair.j);
        if (!there || pair.distance > radius() || distance(sides_.a[pair.i], sides_.b[pair.j]) != pair.distance) {
          throw Failure(ErrorCode::internal, "it found a pair that is none");
        }
      }
    });
    throw_if_cancelled(executor_);
  }

  std::uint32_t radius() const { return static_cast<std::uint32_t>(std::min(options_.radius, 32 * kWords32<Code>)); }

  // A range of one part by the CPU; its order is made when it is asked for first.
  FoundPairs by_cpu(std::size_t part, const PartRange& range, bool buckets) {
    if (filled_ != part) {
      memory_.reset();
      memory_ = budget_.reserve({bucket_bytes<Code>(plan_, sides_.a.size(), Layout::lean) +
                                 (sides_.self ? 0 : bucket_bytes<Code>(plan_, sides_.b.size(), Layout::lean))},
                                "codes in bucket order");
      part_.fill(plan_, part, Layout::lean);
      filled_ = part;
    }
    Gathered gathered;
    PartRange places = range;
    if (buckets) places = {part_.starts()[range.begin], part_.starts()[range.end], 0, 0};
    part_.match(places, gathered);
    FoundPairs out;
    out.memory = budget_.reserve({gathered.list().size() * sizeof(Pair)}, "pairs found");
    out.list = std::move(gathered.list());
    return out;
  }

  // Whether the device has room for all that is needed, and still works; `make` asks for it.
  template <typename Make>
  bool have_room(const Make& make) {
    try {
      queue_.emplace(accelerator_);
      make();
      return true;
    } catch (const OutOfMemory&) {
      DeviceCounts counts;
      counts.halved = counts.fell_back = 1;
      accelerator_.add(counts);
    } catch (const Failure& failure) {
      if (!is_of_device(failure)) throw;
      accelerator_.strike_out(failure.error().what);
    }
    return false;
  }

  const Sides<Code> sides_;
  const JoinPlan& plan_;
  const Options& options_;
  const Executor& executor_;
  Accelerator& accelerator_;
  Budget& budget_;
  PairTaker& taker_;
  std::optional<Queue> queue_;

 private:
  void keep(FoundPairs& found) {
    if (sides_.also != nullptr) {
      std::erase_if(found.list, [&](const Pair& pair) { return !(*sides_.also)(pair.i, pair.j); });
    }
    // Not paid for twice.
    found.memory.release();
    taker_.take(found.list);
  }

  const Sides<Code> all_pairs_;  // what else a pair has to be is asked when it is kept
  PartJoin<Code> part_;
  std::size_t filled_ = SIZE_MAX;
  std::optional<Reservation> memory_;
};

template <typename Code>
class BruteOnDevice : public OnDevice<Code> {
  using Base = OnDevice<Code>;

 public:
  using Base::Base;

  bool run() {
    const std::uint64_t a = this->sides_.a.size(), b = this->sides_.b.size();
    if (a == 0 || b == 0) return true;
    if (!this->have_room([&] { make_room(std::max(a, b)); })) return false;
    for (std::uint64_t from = 0; from < a; from += chunk_) {
      for (std::uint64_t to = this->sides_.self ? from : 0; to < b; to += chunk_) {
        blocks_.push_back({from, std::min(from + chunk_, a), to, std::min(to + chunk_, b), items_});
        items_ += blocks_.back().a_end - from;
      }
    }
    BatchedWork<FoundPairs> work;
    work.items = items_;
    work.most = kMostPairs;
    work.checked = kCheckedPairs;
    work.cut = [this](std::uint64_t begin, std::uint64_t amount) {
      const Block& block = block_of(begin);
      const std::uint64_t rows = std::max<std::uint64_t>(1, amount / (block.b_end - block.b_begin));
      return std::min(begin + rows, block.items + block.a_end - block.a_begin);
    };
    work.on_device = [this](std::uint64_t begin, std::uint64_t end) { return on_device(begin, end); };
    work.on_cpu = [this](std::uint64_t begin, std::uint64_t end) {
      const Block& block = block_of(begin);
      const std::uint64_t from = block.a_begin + (begin - block.items), to = from + (end - begin);
      return this->by_cpu(0, {from, to, block.b_begin, block.b_end}, false);
    };
    Base::run(entry(), work);
    return true;
  }

 private:
  // Rows of side a against rows of side b; its rows of side a are items from `items` on.
  struct Block {
    std::uint64_t a_begin, a_end, b_begin, b_end, items;
  };

  static constexpr const KernelEntry& entry() { return sizeof(Code) == 8 ? kBrute64 : kBrute256; }
  // Rows of side a that one block of threads holds.
  static constexpr std::uint64_t kTile = sizeof(Code) == 8 ? 1024 : 256;

  const Block& block_of(std::uint64_t item) const {
    const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), item,
                                        [](std::uint64_t value, const Block& block) { return value < block.items; });
    return *std::prev(after);
  }

  // Buffers for chunks of both sides; OutOfMemory where not even small ones fit.
  void make_room(std::uint64_t rows) {
    for (chunk_ = rows;; chunk_ = (chunk_ + 1) / 2) {
      try {
        hits_.reset();
        a_.release();
        b_.release();
        hits_.emplace(this->accelerator_, room_for_hits(this->accelerator_));
        a_ = DeviceBuffer<std::uint32_t>(this->accelerator_, chunk_ * kWords32<Code>, "codes");
        if (chunk_ < rows || !this->sides_.self) {
          b_ = DeviceBuffer<std::uint32_t>(this->accelerator_, chunk_ * kWords32<Code>, "codes");
        }
        return;
      } catch (const OutOfMemory&) {
        if (chunk_ <= kFewestRows) throw;
      }
    }
  }

  void load(DeviceBuffer<std::uint32_t>& to, std::span<const Code> codes, std::uint64_t begin, std::uint64_t end,
            std::uint64_t& loaded) {
    if (loaded == begin) return;
    loaded = UINT64_MAX;
    this->queue_->upload(words_of(codes.subspan(begin, end - begin)), to);
    loaded = begin;
  }

  FoundPairs on_device(std::uint64_t begin, std::uint64_t end) {
    throw_if_cancelled(this->executor_);
    const Block& block = block_of(begin);
    const bool one = this->sides_.self && block.a_begin == block.b_begin;
    load(a_, this->sides_.a, block.a_begin, block.a_end, a_loaded_);
    if (!one) load(b_, this->sides_.b, block.b_begin, block.b_end, b_loaded_);
    const auto from = static_cast<std::uint32_t>(begin - block.items),
               to = static_cast<std::uint32_t>(end - block.items);
    const auto b_rows = static_cast<std::uint32_t>(block.b_end - block.b_begin);
    // Codes before the first row of side a are other batches'.
    const std::uint32_t b_from = one ? from : 0;
    const std::uint64_t blocks = (to - from + kTile - 1) / kTile * ((b_rows - b_from + kSpan - 1) / kSpan);
    hits_->empty(*this->queue_);
    this->queue_->launch(bodies::hamming(), entry(), blocks, a_, one ? a_ : b_, from, to, b_from, b_rows, kSpan,
                         std::uint32_t{one}, this->radius(), hits_->hits(), hits_->capacity(), hits_->count());
    FoundPairs found = hits_->take(*this->queue_, this->budget_);
    for (Pair& pair : found.list) {
      pair.i += static_cast<std::uint32_t>(block.a_begin);
      pair.j += static_cast<std::uint32_t>(block.b_begin);
    }
    this->confirm(found.list);
    return found;
  }

  std::uint64_t chunk_ = 0, items_ = 0;
  std::vector<Block> blocks_;
  DeviceBuffer<std::uint32_t> a_, b_;
  std::uint64_t a_loaded_ = UINT64_MAX, b_loaded_ = UINT64_MAX;
  std::optional<HitBuffer> hits_;
};

template <typename Code>
class IndexOnDevice : public OnDevice<Code> {
  using Base = OnDevice<Code>;

 public:
  using Base::Base;

  bool run() {
    if (this->sides_.a.empty() || this->sides_.b.empty()) return true;
    if (!this->have_room([&] { make_room(); })) return false;
    // Items are the buckets of all parts.
    firsts_ = {0};
    std::uint64_t widest = 0;
    for (const Part& part : this->plan_.parts) {
      firsts_.push_back(firsts_.back() + (std::uint64_t{1} << part.width));
      widest = std::max(widest, std::uint64_t{1} << part.width);
    }
    BatchedWork<FoundPairs> work;
    work.items = firsts_.back();
    // A sixteenth of a part, but for few codes all of it.
    const std::uint64_t codes = this->sides_.a.size();
    work.most = std::max<std::uint64_t>({1, widest / 16, widest * kFewCodes / codes});
    work.checked = std::max<std::uint64_t>({1, widest / 1024, widest * kFewCodes / 64 / codes});
    work.cut = [this](std::uint64_t begin, std::uint64_t amount) {
      return std::min(begin + amount, firsts_[part_of(begin) + 1]);
    };
    work.on_device = [this](std::uint64_t begin, std::uint64_t end) { return on_device(begin, end); };
    work.on_cpu = [this](std::uint64_t begin, std::uint64_t end) {
      const std::size_t part = part_of(begin);
      return this->by_cpu(part, {begin - firsts_[part], end - firsts_[part], 0, 0}, true);
    };
    Base::run(kIndex, work);
    return true;
  }

 private:
  static constexpr std::uint32_t kWords = kWords32<Code>;

  // One side on the device: its codes as they are, and in the order of a part.
  struct OneSide {
    DeviceBuffer<std::uint32_t> codes, ordered, ids, places, starts;
    std::vector<std::uint32_t> host_starts;
    bool loaded = false;
  };

  std::size_t part_of(std::uint64_t item) const {
    return static_cast<std::size_t>(std::upper_bound(firsts_.begin(), firsts_.end(), item) - firsts_.begin()) - 1;
  }

  void make_room() {
    std::size_t buckets = 0, flips = 0;
    for (const Part& part : this->plan_.parts) {
      buckets = std::max(buckets, std::size_t{1} << part.width);
      flips = std::max(flips, flips_for(part, this->sides_.self).size());
    }
    Accelerator& device = this->accelerator_;
    const auto make = [&](OneSide& side, std::size_t rows) {
      side.codes = {device, rows * kWords, "codes"};
      side.ordered = {device, rows * kWords, "codes in bucket order"};
      side.ids = {device, rows, "rows in bucket order"};
      side.places = {device, buckets, "places in buckets"};
      side.starts = {device, buckets + 1, "buckets"};
    };
    make(a_, this->sides_.a.size());
    if (!this->sides_.self) make(b_, this->sides_.b.size());
    flips_ = {device, std::max<std::size_t>(1, flips), "neighbours of a bucket"};
    earlier_words_ = {device, this->plan_.parts.size(), "earlier parts"};
    earlier_masks_ = {device, this->plan_.parts.size(), "earlier parts"};
    earlier_thresholds_ = {device, this->plan_.parts.size(), "earlier parts"};
    hits_.emplace(device, room_for_hits(device));
  }

  void order(OneSide& side, std::span<const Code> codes, const Part& part) {
    Queue& queue = *this->queue_;
    const auto rows = static_cast<std::uint32_t>(codes.size());
    const std::uint64_t blocks = std::min<std::uint64_t>(4096, (codes.size() + 255) / 256);
    const std::size_t buckets = std::size_t{1} << part.width;
    const auto word = static_cast<std::uint32_t>(part.word), shift = static_cast<std::uint32_t>(part.shift),
               width = static_cast<std::uint32_t>(part.width);
    if (!side.loaded) queue.upload(words_of(codes), side.codes);
    side.loaded = true;
    queue.fill(side.places, 0);
    queue.launch(bodies::hamming(), kCount, blocks, side.codes, kWords, rows, word, shift, width, side.places);
    // Sums over some thousand or million buckets: the way there and back takes longer.
    side.host_starts.assign(buckets + 1, 0);
    queue.download(side.places, std::span(side.host_starts).first(buckets));
    std::uint32_t sum = 0;
    for (std::uint32_t& start : side.host_starts) sum += std::exchange(start, sum);
    if (sum != rows) throw Failure(ErrorCode::internal, "it counted codes wrongly");
    queue.upload(std::span<const std::uint32_t>(side.host_starts), side.starts);
    queue.upload(std::span<const std::uint32_t>(side.host_starts).first(buckets), side.places);
    queue.launch(bodies::hamming(), kScatter, blocks, side.codes, kWords, rows, word, shift, width, side.places,
                 side.ordered, side.ids);
  }

  void prepare(std::size_t p) {
    if (prepared_ == p) return;
    prepared_ = SIZE_MAX;
    const Part& part = this->plan_.parts[p];
    order(a_, this->sides_.a, part);
    if (!this->sides_.self) order(b_, this->sides_.b, part);
    const std::vector<std::uint32_t> flips = flips_for(part, this->sides_.self);
    flip_count_ = static_cast<std::uint32_t>(flips.size());
    this->queue_->upload(std::span<const std::uint32_t>(flips), flips_);
    std::vector<std::uint32_t> words, thresholds;
    std::vector<std::uint64_t> masks;
    for (std::size_t e = 0; e < p; ++e) {
      const Part& earlier = this->plan_.parts[e];
      words.push_back(static_cast<std::uint32_t>(earlier.word));
      thresholds.push_back(static_cast<std::uint32_t>(earlier.threshold));
      masks.push_back(earlier.mask());
    }
    this->queue_->upload(std::span<const std::uint32_t>(words), earlier_words_);
    this->queue_->upload(std::span<const std::uint64_t>(masks), earlier_masks_);
    this->queue_->upload(std::span<const std::uint32_t>(thresholds), earlier_thresholds_);
    prepared_ = p;
  }

  FoundPairs on_device(std::uint64_t begin, std::uint64_t end) {
    throw_if_cancelled(this->executor_);
    const std::size_t p = part_of(begin);
    prepare(p);
    const Part& part = this->plan_.parts[p];
    const bool self = this->sides_.self;
    const std::uint32_t from = a_.host_starts[begin - firsts_[p]], to = a_.host_starts[end - firsts_[p]];
    hits_->empty(*this->queue_);
    OneSide& b = self ? a_ : b_;
    this->queue_->launch(bodies::hamming(), kIndex, (std::uint64_t{to} - from + 255) / 256, a_.ordered, a_.ids,
                         b.ordered, b.ids, b.starts, kWords, from, to, static_cast<std::uint32_t>(part.word),
                         static_cast<std::uint32_t>(part.shift), static_cast<std::uint32_t>(part.width), flips_,
                         flip_count_, earlier_words_, earlier_masks_, earlier_thresholds_,
                         static_cast<std::uint32_t>(p), std::uint32_t{self}, this->radius(), hits_->hits(),
                         hits_->capacity(), hits_->count());
    FoundPairs found = hits_->take(*this->queue_, this->budget_);
    this->confirm(found.list);
    return found;
  }

  std::vector<std::uint64_t> firsts_;  // each part's first item, and how many there are
  OneSide a_, b_;
  DeviceBuffer<std::uint32_t> flips_, earlier_words_, earlier_thresholds_;
  DeviceBuffer<std::uint64_t> earlier_masks_;
  std::uint32_t flip_count_ = 0;
  std::size_t prepared_ = SIZE_MAX;
  std::optional<HitBuffer> hits_;
};

// Whether the parts of an index compare more pairs than brute force does, told from how often two of some codes have
// the same key.
template <typename Code>
bool too_alike(const Sides<Code>& sides, const JoinPlan& plan) {
  constexpr std::size_t kSample = 1 << 16;
  const std::size_t sampled = std::min(sides.b.size(), kSample);
  if (sampled < 2) return false;
  std::vector<std::uint64_t> keys(sampled);
  double share = 0;
  for (const Part& part : plan.parts) {
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
             static_cast<double>(1 + flips_for(part, true).size());
  }
  return share > 1;
}

}  // namespace

std::string operation_of(int bits, Algorithm algorithm) {
  return fmt::format("hamming.{}{}", algorithm == Algorithm::brute ? "brute" : "index", bits);
}

Route route_of(const JoinPlan& plan, const Problem& problem, const Accelerator& accelerator) {
  Work work;
  work.operation = operation_of(problem.bits, plan.algorithm);
  work.cpu_s = plan.seconds;
  const auto a = static_cast<double>(problem.a), b = static_cast<double>(problem.b);
  // What an index compares is told in the seconds that the model expects of one thread.
  work.amount = plan.algorithm == Algorithm::brute ? a * b * (problem.self ? 0.5 : 1) : plan.seconds * problem.threads;
  work.bytes_up = (a + (problem.self ? 0 : b)) * problem.bits / 8;
  return choose_side(accelerator, work);
}

template <typename Code>
std::optional<Answer> find_on_device(const Sides<Code>& sides, const JoinPlan& plan, const Options& options,
                                     const Engines& engines, Budget& budget, PairTaker& taker) {
  Accelerator& accelerator = *engines.accelerator;
  if (!accelerator.ready(bodies::hamming(), gives_known_answers)) return std::nullopt;
  const std::string where = ", on " + name_of(accelerator.device());
  const auto& executor = engines.executor;
  if (plan.algorithm == Algorithm::index && !too_alike(sides, plan)) {
    IndexOnDevice<Code> index(sides, plan, options, executor, accelerator, budget, taker);
    if (!index.run()) return std::nullopt;
    return Answer{Algorithm::index, plan.why + where};
  }
  JoinPlan brute = plan;
  if (plan.algorithm == Algorithm::index) {
    Problem problem = problem_of(sides, options, executor);
    problem.wish = Algorithm::brute;
    brute = choose_plan(problem);
    brute.why += ", because the codes are too alike for " + plan.why;
  }
  BruteOnDevice<Code> all(sides, brute, options, executor, accelerator, budget, taker);
  if (!all.run()) return std::nullopt;
  return Answer{Algorithm::brute, brute.why + where};
}

template std::optional<Answer> find_on_device(const Sides<std::uint64_t>&, const JoinPlan&, const Options&,
                                              const Engines&, Budget&, PairTaker&);
template std::optional<Answer> find_on_device(const Sides<Code256>&, const JoinPlan&, const Options&, const Engines&,
                                              Budget&, PairTaker&);

}  // namespace millrace::hamming
