// Input: codes on two sides, a plan, and a device that gives its known answers.
// Output: code that brute force and an index share: room for hits, their verification, batches for either side.
// Never: used from outside this folder.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/base/mutex.h"
#include "src/device/batches.h"
#include "src/device/queue.h"
#include "src/kernels/hamming/hamming_entries.h"
#include "src/kernels/hamming/hamming_index_part.h"
#include "src/kernels/hamming/hamming_nodes.h"
#include "src/kernels/hamming/hamming_words.h"

namespace millrace::hamming {

// Maximum pairs of codes that a batch compares: some milliseconds of a large device, whose counter of hits has 32 bits.
// And maximum pairs that the CPU compares once more, in about five milliseconds.
inline constexpr std::uint64_t kMaxPairs = std::uint64_t{1} << 31, kCheckedPairs = std::uint64_t{1} << 28;
// Maximum number of hits that there is room for, and that wait for a check: 48 MiB; and the minimum.
inline constexpr std::uint64_t kMaxHits = std::uint64_t{1} << 22, kMinHits = 1 << 12;

// Pairs that a batch found, in the order of the hits.
struct FoundPairs {
  std::vector<HammingPair> list;
  std::vector<Reservation> memory;
};

inline bool same_pairs(FoundPairs& x, FoundPairs& y) {
  std::sort(x.list.begin(), x.list.end());
  std::sort(y.list.begin(), y.list.end());
  return x.list == y.list;
}

// Collects the pairs that the CPU finds in a range of a part, and reserves memory as they come.
class GatheredPairs : public PairTaker {
 public:
  explicit GatheredPairs(Budget& budget) : budget_(budget) {}
  void take(std::vector<HammingPair>& pairs) override {
    // A vector that grows is twice as large as its contents.
    Reservation reservation = budget_.reserve({2 * pairs.size() * sizeof(HammingPair)}, "pairs found");
    const MutexLock lock(mutex_);
    found_.memory.push_back(std::move(reservation));
    found_.list.insert(found_.list.end(), pairs.begin(), pairs.end());
    pairs.clear();
  }
  void clear() override {
    const MutexLock lock(mutex_);
    found_ = {};
  }
  FoundPairs found() {
    const MutexLock lock(mutex_);
    return std::exchange(found_, {});
  }

 private:
  Budget& budget_;
  Mutex mutex_;
  FoundPairs found_ MILLRACE_GUARDED_BY(mutex_);
};

template <typename Code>
std::span<const std::uint32_t> words_of(std::span<const Code> codes) {
  return {reinterpret_cast<const std::uint32_t*>(codes.data()), codes.size() * kWords32<Code>};
}

// Passes on the pairs that meet the second condition too.
template <typename Code>
class FilteredPairs : public PairTaker {
 public:
  FilteredPairs(const JoinSides<Code>& sides, PairTaker& taker) : sides_(sides), taker_(taker) {}
  void take(std::vector<HammingPair>& pairs) override {
    if (sides_.also != nullptr) {
      std::erase_if(pairs, [&](const HammingPair& pair) { return !(*sides_.also)(pair.i, pair.j); });
    }
    taker_.take(pairs);
  }
  void clear() override { taker_.clear(); }

 private:
  const JoinSides<Code>& sides_;
  PairTaker& taker_;
};

// Room for hits, and their number.
class HitBuffer {
 public:
  HitBuffer(Accelerator& accelerator, std::uint64_t hits)
      : hits_(accelerator, 3 * hits, "hits"), count_(accelerator, 2, "hit counter") {}

  DeviceBuffer<std::uint32_t>& hits() { return hits_; }
  DeviceBuffer<std::uint32_t>& count() { return count_; }
  std::uint32_t capacity() const { return static_cast<std::uint32_t>(hits_.size() / 3); }
  // Erases hits of an earlier launch.
  void empty(Queue& queue) {
    queue.fill(count_, 0);
    if (used_ > 0) queue.fill(hits_, 0xFF, 3 * used_);
    used_ = 0;
  }
  // Returns the hits of `blocks` blocks; their rows are unverified. Throws OutOfMemory where there were more hits than
  // room, Failure(internal) where blocks are missing.
  FoundPairs take(Queue& queue, Budget& budget, std::uint64_t blocks) {
    std::uint32_t counts[2] = {};
    queue.download(count_, std::span<std::uint32_t>(counts));
    const std::uint32_t count = counts[0];
    used_ = std::min<std::size_t>(count, capacity());
    if (counts[1] != blocks) throw Failure(ErrorCode::internal, "it left out a part of its work");
    if (count > capacity())
      throw OutOfMemory(ErrorCode::out_of_memory, "more pairs than its memory holds", "the device");
    FoundPairs out;
    out.memory.push_back(budget.reserve({count * sizeof(HammingPair)}, "pairs found on a device"));
    out.list.resize(count);
    static_assert(sizeof(HammingPair) == 3 * sizeof(std::uint32_t));
    queue.download(hits_, std::span(reinterpret_cast<std::uint32_t*>(out.list.data()), std::size_t{3} * count));
    return out;
  }

 private:
  std::size_t used_ = 0;
  DeviceBuffer<std::uint32_t> hits_, count_;
};

// Returns the number of hits that fit in a share of the device's memory.
inline std::uint64_t room_for_hits(Accelerator& accelerator) {
  return std::clamp(accelerator.free_memory().count / 4 / sizeof(HammingPair), kMinHits, kMaxHits);
}

// Base of brute force and index: batches that either side can do, given to the taker in order.
template <typename Code>
class DeviceJoin {
 public:
  DeviceJoin(const JoinSides<Code>& sides, const JoinPlan& plan, const Options& options, const Executor& executor,
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
  // Finds the pairs of items [begin, end) on the CPU and gives them to `taker`.
  using ByCpu = std::function<void(std::uint64_t begin, std::uint64_t end, PairTaker& taker)>;

  void run(BatchedWork<FoundPairs>& work, const ByCpu& cpu) {
    work.same = same_pairs;
    work.on_cpu = [this, &cpu](std::uint64_t begin, std::uint64_t end) {
      GatheredPairs gathered(budget_);
      cpu(begin, end, gathered);
      return gathered.found();
    };
    work.keep_by_cpu = [this, &cpu](std::uint64_t begin, std::uint64_t end) {
      FilteredPairs<Code> filtered(sides_, taker_);
      cpu(begin, end, filtered);
    };
    work.keep = [this](FoundPairs found) { keep(found); };
    work.weight = [](const FoundPairs& found) { return found.list.size(); };
    work.max_waiting = kMaxHits;
    // Progress is reported in codes, whatever the items are.
    const std::uint64_t codes = sides_.a.size();
    work.advance = [&, done = std::uint64_t{0}, reported = std::uint64_t{0}](std::uint64_t more) mutable {
      done += more;
      const auto now = static_cast<std::uint64_t>(static_cast<double>(done) / static_cast<double>(work.items) *
                                                  static_cast<double>(codes));
      const std::uint64_t to = done == work.items ? codes : std::min(now, codes);
      if (options_.progress) options_.progress(to - reported, codes);
      reported = to;
    };
    run_batches(accelerator_, work);
  }

  // Verifies every hit, so that faulty memory of the device does not become rows that do not exist. Pairs that a device
  // missed are found by a check (src/device/batches.h).
  void confirm(std::span<const HammingPair> found) const {
    executor_.parallel_for(found.size(), std::size_t{1} << 14, [&](std::size_t from, std::size_t to) {
      for (const HammingPair& pair : found.subspan(from, to - from)) {
        const bool there = pair.i < sides_.a.size() && pair.j < sides_.b.size() && (!sides_.self || pair.i < pair.j);
        if (!there || pair.distance > radius() || distance(sides_.a[pair.i], sides_.b[pair.j]) != pair.distance) {
          throw Failure(ErrorCode::internal, "it reported a pair that does not match");
        }
      }
    });
    throw_if_cancelled(executor_);
  }

  std::uint32_t radius() const { return static_cast<std::uint32_t>(std::min(options_.radius, 32 * kWords32<Code>)); }

  // Finds the pairs of a range of one part on the CPU; the order of the part is made when it is first needed.
  void by_cpu(std::size_t part, const IndexPartRange& range, bool buckets, PairTaker& taker) {
    if (filled_ != part) {
      memory_.reset();
      filled_ = SIZE_MAX;
      memory_ =
          budget_.reserve({Buckets<Code>().bytes_with(plan_, sides_.a.size(), BucketLayout::lean) +
                           (sides_.self ? 0 : Buckets<Code>().bytes_with(plan_, sides_.b.size(), BucketLayout::lean))},
                          "codes in bucket order");
      part_.fill(plan_, part, BucketLayout::lean);
      filled_ = part;
    }
    IndexPartRange places = range;
    if (buckets) places = {part_.starts()[range.begin], part_.starts()[range.end], 0, 0};
    part_.match(places, taker);
  }

  // True if the device has room for everything that is needed, and still works; `make` requests the room.
  template <typename Make>
  bool can_allocate(const Make& make) {
    try {
      queue_.emplace(accelerator_);
      make();
      return true;
    } catch (const OutOfMemory&) {
      DeviceCounts counts;
      counts.halved = counts.fell_back = 1;
      accelerator_.add(counts);
      accelerator_.record_fallback("its memory is too small for the codes");
    } catch (const Failure& failure) {
      if (!is_device_failure(failure)) throw;
      accelerator_.exclude_device(failure.error().what);
    }
    return false;
  }

  const JoinSides<Code> sides_;
  const JoinPlan& plan_;
  const Options& options_;
  const Executor& executor_;
  Accelerator& accelerator_;
  Budget& budget_;
  PairTaker& taker_;
  std::optional<Queue> queue_;

 private:
  void keep(FoundPairs& found) {
    // The taker reserves its own memory, so pairs would be counted twice.
    found.memory.clear();
    FilteredPairs<Code> filtered(sides_, taker_);
    filtered.take(found.list);
  }

  const JoinSides<Code> all_pairs_;  // a second condition is tested when a pair is kept
  IndexPartJoin<Code> part_;
  std::size_t filled_ = SIZE_MAX;
  std::optional<Reservation> memory_;
};

}  // namespace millrace::hamming
