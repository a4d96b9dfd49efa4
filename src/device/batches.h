// Input: work split into batches, each of which a device or the CPU can do with the same result.
// Output: the results of all batches, in their order; each batch is done entirely by one side.
// Never: delivers results of a device before it passed the latest check.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "src/device/accelerator.h"

namespace millrace {

// Returns the items of a device's batch of `count` items from `begin` that are checked. For a sample these are the
// first, the last and one in 256; with VerifyMode::all, every item.
inline std::vector<std::uint64_t> select_compared_items(std::uint64_t begin, std::uint64_t count, VerifyMode verify) {
  constexpr std::uint64_t kOneIn = 256;
  std::vector<std::uint64_t> out;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (verify == VerifyMode::all || i % kOneIn == 0 || i + 1 == count) out.push_back(begin + i);
  }
  return out;
}

template <typename Part>
struct BatchedWork {
  // Items are 0 to `items` - 1. The size of a batch is an amount of work, in a unit of the operation (pairs, pixels).
  std::uint64_t items = 0;
  std::uint64_t most = 1, checked = 1;  // maximum amount of a batch, and of a batch that is checked
  // Returns the end of the batch that begins at `begin`, for about this amount; at least one item.
  std::function<std::uint64_t(std::uint64_t begin, std::uint64_t amount)> cut;
  // May throw OutOfMemory, or DeviceLost.
  std::function<Part(std::uint64_t begin, std::uint64_t end)> on_device;
  // Computes the same on the CPU for a check. `same` compares both results and may sort them first.
  std::function<Part(std::uint64_t begin, std::uint64_t end)> on_cpu;
  std::function<bool(Part& device, Part& cpu)> same;
  // Called in the order of the items: `keep` with a device's result, `keep_by_cpu` to do the items on the CPU, which
  // needs the least memory that way.
  std::function<void(Part)> keep;
  std::function<void(std::uint64_t begin, std::uint64_t end)> keep_by_cpu;
  // True if a check compares only some items of a batch; then every batch is checked, unless verification is off.
  bool sampled = false;
  // Called with the number of items that were completed since the last call.
  std::function<void(std::uint64_t more)> advance = [](std::uint64_t) {};
  // Maximum total of `weight` over results that wait for a check; a check is made at once when it is exceeded.
  std::uint64_t max_waiting = 0;
  std::function<std::uint64_t(const Part&)> weight;
};

// Runs all of the work. OutOfMemory halves the amount of a batch; a single item that does not fit is done by the CPU.
// After eight batches that fit, the amount doubles again. With VerifyMode::sample the CPU also computes the first
// batch, one in 256 and the last; with VerifyMode::all, every batch; with VerifyMode::none, no batch. Results of a
// device are delivered once that batch or a later one passed a check. A device that is lost, or answers differently
// from the CPU or impossibly, is excluded. The CPU then does all batches that were not delivered, and all that remain.
template <typename Part>
class BatchRun {
 public:
  BatchRun(Accelerator& accelerator, const BatchedWork<Part>& work)
      : accelerator_(accelerator), work_(work), amount_(std::max<std::uint64_t>(1, work.most)) {}

  void run() {
    while (begin_ < work_.items && !accelerator_.is_excluded()) next();
    if (!accelerator_.is_excluded() && accelerator_.options().verify != VerifyMode::none) check_last();
    if (accelerator_.is_excluded()) forget_waiting();
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
    std::optional<Part> part;  // none: the CPU must do it
    bool checked = false;
  };
  static constexpr int kBatchesUntilGrowth = 8, kMaxFailedBatches = 16;
  static constexpr std::uint64_t kCheckedOneIn = 256;

  // True if the CPU has to compute the next batch too. A batch that did not fit is not counted: the next one is checked
  // instead.
  bool is_due() const {
    const VerifyMode verify = accelerator_.options().verify;
    return verify == VerifyMode::all ||
           (verify == VerifyMode::sample && (work_.sampled || counts_.batches % kCheckedOneIn == 0));
  }

  std::uint64_t cut(std::uint64_t amount) const {
    const std::uint64_t to = work_.cut(begin_, amount), limit = accelerator_.options().batch;
    return limit == 0 ? to : std::min(to, begin_ + limit);
  }

  // Tries one batch.
  void next() {
    const bool due = is_due();
    const std::uint64_t amount = due ? std::min(amount_, work_.checked) : amount_, end = cut(amount);
    std::optional<Part> part;
    try {
      part = work_.on_device(begin_, end);
    } catch (const OutOfMemory&) {
      handle_too_large(amount, end);
      return;
    } catch (const Failure& failure) {
      if (!is_device_failure(failure)) throw;
      accelerator_.exclude_device(failure.error().what);
      return;
    }
    ++counts_.batches;
    failed_batches_ = 0;
    waits_ += work_.weight(*part);
    waiting_.push_back({begin_, end, std::move(part)});
    work_.advance(end - begin_);
    begin_ = end;
    if (accelerator_.options().verify == VerifyMode::none) {
      keep_waiting();  // no check is wanted
    } else if (due || waits_ > work_.max_waiting) {
      check_last();
      if (!accelerator_.is_excluded()) keep_waiting();
    }
    if (++easy_ == kBatchesUntilGrowth && amount_ < work_.most) {
      amount_ = std::min(work_.most, 2 * amount_);
      easy_ = 0;
    }
  }

  void handle_too_large(std::uint64_t amount, std::uint64_t end) {
    ++counts_.halved;
    easy_ = 0;
    if (cut(1) < end) {
      amount_ = std::max<std::uint64_t>(1, amount / 2);
      return;
    }
    waiting_.push_back({begin_, end, std::nullopt});
    work_.advance(end - begin_);
    begin_ = end;
    if (++failed_batches_ == kMaxFailedBatches) {
      accelerator_.exclude_device("a batch of one item does not fit in its memory or in the host's", false);
    }
  }

  // Compares the last batch of the device with the CPU's result, and excludes the device if they differ.
  void check_last() {
    for (auto one = waiting_.rbegin(); one != waiting_.rend(); ++one) {
      if (!one->part) continue;
      if (one->checked) return;
      ++counts_.verified;
      try {
        Part truth = work_.on_cpu(one->begin, one->end);
        if (!work_.same(*one->part, truth)) accelerator_.exclude_device("it gave another answer than the CPU");
        one->checked = true;
      } catch (const OutOfMemory&) {
        // Both results together do not fit in memory: the CPU's is used.
        one->part.reset();
      } catch (const Failure& failure) {
        // The comparison may read results that are still on the device.
        if (!is_device_failure(failure)) throw;
        accelerator_.exclude_device(failure.error().what);
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
  int easy_ = 0, failed_batches_ = 0;
};

template <typename Part>
void run_batches(Accelerator& accelerator, const BatchedWork<Part>& work) {
  BatchRun<Part>(accelerator, work).run();
}

}  // namespace millrace
