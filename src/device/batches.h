// Input: work that is cut into batches, each of which a device or the CPU can do, with the same result.
// Output: all of it done, in its order; every batch wholly by one side.
// Never: hands on what a device made before what it made lately was checked.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "src/device/accelerator.h"

namespace millrace {

// Of `count` items from `begin` on, which a device made of a batch, those that a check by samples looks at: the first,
// the last and one in 256; all where that was asked for.
inline std::vector<std::uint64_t> compared_of(std::uint64_t begin, std::uint64_t count, Verify verify) {
  constexpr std::uint64_t kOneIn = 256;
  std::vector<std::uint64_t> out;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (verify == Verify::all || i % kOneIn == 0 || i + 1 == count) out.push_back(begin + i);
  }
  return out;
}

template <typename Part>
struct BatchedWork {
  // Items are 0 to `items`; a batch of them is worth an amount of work, which the work itself counts (pairs, pixels).
  std::uint64_t items = 0;
  std::uint64_t most = 1, checked = 1;  // the amount of a batch, and of one that the CPU does too
  // Where the batch that begins at `begin` ends, for about this amount: one item at least.
  std::function<std::uint64_t(std::uint64_t begin, std::uint64_t amount)> cut;
  // May throw OutOfMemory, or DeviceLost.
  std::function<Part(std::uint64_t begin, std::uint64_t end)> on_device;
  // The same by the CPU, for a check: it may put both into an order.
  std::function<Part(std::uint64_t begin, std::uint64_t end)> on_cpu;
  std::function<bool(Part& device, Part& cpu)> same;
  // Called in the order of the items: with what the device made, or to do it on the CPU, which holds no more than it
  // has to.
  std::function<void(Part)> keep;
  std::function<void(std::uint64_t begin, std::uint64_t end)> keep_by_cpu;
  // A check looks at some items of a batch: every batch is checked, where batches are at all.
  bool sampled = false;
  // Told how many items more are computed.
  std::function<void(std::uint64_t more)> advance = [](std::uint64_t) {};
  // What parts that wait for a check may come to, as `weight` counts them; a batch above it is checked at once.
  std::uint64_t most_waiting = 0;
  std::function<std::uint64_t(const Part&)> weight;
};

// Runs all of the work. OutOfMemory halves the amount of a batch; one item that does not fit is the CPU's. After eight
// batches that fit the amount doubles again. The first batch, one in 256 and the last are the CPU's too (but with
// Verify::none, and all with Verify::all); what a device made is kept once it, or a later one, was
// the CPU's. A device that is lost, gives another answer than the CPU, or one that cannot
// be, is struck out: then the CPU does what was not kept, and all that is left.
template <typename Part>
class BatchRun {
 public:
  BatchRun(Accelerator& accelerator, const BatchedWork<Part>& work)
      : accelerator_(accelerator), work_(work), amount_(std::max<std::uint64_t>(1, work.most)) {}

  void run() {
    while (begin_ < work_.items && !accelerator_.struck_out()) next();
    if (!accelerator_.struck_out() && accelerator_.options().verify != Verify::none) check_last();
    if (accelerator_.struck_out()) forget_waiting();
    keep_waiting();
    while (begin_ < work_.items) {
      const std::uint64_t end = work_.cut(begin_, work_.most);
      ++counts_.fell_back;
      work_.keep_by_cpu(begin_, end);
      work_.advance(end - begin_);
      begin_ = end;
    }
    accelerator_.add(counts_);
  }

 private:
  struct Waiting {
    std::uint64_t begin, end;
    std::optional<Part> part;  // none: the CPU has to do it
    bool checked = false;
  };
  static constexpr int kPatience = 8, kMostInVain = 16;
  static constexpr std::uint64_t kCheckedOneIn = 256;

  // Whether the CPU has to compute the next batch too. One that does not fit is not counted: its check is the next
  // one's.
  bool is_due() const {
    const Verify verify = accelerator_.options().verify;
    return verify == Verify::all ||
           (verify == Verify::sample && (work_.sampled || counts_.batches % kCheckedOneIn == 0));
  }

  std::uint64_t cut(std::uint64_t amount) const {
    const std::uint64_t to = work_.cut(begin_, amount), limit = accelerator_.options().batch;
    return limit == 0 ? to : std::min(to, begin_ + limit);
  }

  // One batch, or one try of it.
  void next() {
    const bool due = is_due();
    const std::uint64_t amount = due ? std::min(amount_, work_.checked) : amount_, end = cut(amount);
    std::optional<Part> part;
    try {
      part = work_.on_device(begin_, end);
    } catch (const OutOfMemory&) {
      too_large(amount, end);
      return;
    } catch (const Failure& failure) {
      if (!is_of_device(failure)) throw;
      accelerator_.strike_out(failure.error().what);
      return;
    }
    ++counts_.batches;
    in_vain_ = 0;
    waits_ += work_.weight(*part);
    waiting_.push_back({begin_, end, std::move(part)});
    work_.advance(end - begin_);
    begin_ = end;
    if (accelerator_.options().verify == Verify::none) {
      keep_waiting();  // nobody asks for a check
    } else if (due || waits_ > work_.most_waiting) {
      check_last();
      if (!accelerator_.struck_out()) keep_waiting();
    }
    if (++easy_ == kPatience && amount_ < work_.most) {
      amount_ = std::min(work_.most, 2 * amount_);
      easy_ = 0;
    }
  }

  void too_large(std::uint64_t amount, std::uint64_t end) {
    ++counts_.halved;
    easy_ = 0;
    if (cut(1) < end) {
      amount_ = std::max<std::uint64_t>(1, amount / 2);
      return;
    }
    waiting_.push_back({begin_, end, std::nullopt});
    work_.advance(end - begin_);
    begin_ = end;
    if (++in_vain_ == kMostInVain) {
      accelerator_.strike_out("its memory, or the host's, holds no batch of one item", false);
    }
  }

  // Whether the CPU makes the same of the last batch that the device made.
  void check_last() {
    for (auto one = waiting_.rbegin(); one != waiting_.rend(); ++one) {
      if (!one->part) continue;
      if (one->checked) return;
      ++counts_.verified;
      try {
        Part truth = work_.on_cpu(one->begin, one->end);
        if (!work_.same(*one->part, truth)) accelerator_.strike_out("it gave another answer than the CPU");
        one->checked = true;
      } catch (const OutOfMemory&) {
        // Not both of them fit: the CPU's is taken.
        one->part.reset();
      } catch (const Failure& failure) {
        // What is compared may still be on the device.
        if (!is_of_device(failure)) throw;
        accelerator_.strike_out(failure.error().what);
      }
      return;
    }
  }

  void forget_waiting() {
    for (Waiting& one : waiting_) one.part.reset();
  }

  void keep_waiting() {
    for (Waiting& one : waiting_) {
      if (one.part) {
        work_.keep(std::move(*one.part));
      } else {
        ++counts_.fell_back;
        work_.keep_by_cpu(one.begin, one.end);
      }
    }
    waiting_.clear();
    waits_ = 0;
  }

  Accelerator& accelerator_;
  const BatchedWork<Part>& work_;
  std::vector<Waiting> waiting_;
  DeviceCounts counts_;
  std::uint64_t amount_, begin_ = 0, waits_ = 0;
  int easy_ = 0, in_vain_ = 0;
};

template <typename Part>
void run_batches(Accelerator& accelerator, const BatchedWork<Part>& work) {
  BatchRun<Part>(accelerator, work).run();
}

}  // namespace millrace
