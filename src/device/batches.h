// Enters: work that is cut into batches, each of which a device or the CPU can do, with the same result.
// Leaves: all of it done, in its order; every batch wholly by one side.
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

template <typename Part>
struct BatchedWork {
  // Items are 0 to `items`; a batch of them is worth an amount of work, which the work itself counts (pairs, pixels).
  std::uint64_t items = 0;
  std::uint64_t most = 1, checked = 1;  // the amount of a batch, and of one that the CPU does too
  // Where the batch that begins at `begin` ends, for about this amount: one item at least.
  std::function<std::uint64_t(std::uint64_t begin, std::uint64_t amount)> cut;
  // May throw OutOfMemory, or DeviceLost.
  std::function<Part(std::uint64_t begin, std::uint64_t end)> on_device;
  std::function<Part(std::uint64_t begin, std::uint64_t end)> on_cpu;
  std::function<bool(const Part& device, const Part& cpu)> same;
  // Called in the order of the items.
  std::function<void(Part)> keep;
  // Told how many items more are computed.
  std::function<void(std::uint64_t more)> advance = [](std::uint64_t) {};
  // What parts that wait for a check may come to, as `weight` counts; a batch above it is checked at once.
  std::uint64_t most_waiting = UINT64_MAX;
  std::function<std::uint64_t(const Part&)> weight;
};

// Runs all of the work. OutOfMemory halves the amount of a batch; one item that does not fit is the CPU's. After eight
// batches that fit the amount doubles again. A device that is lost, or gives another answer than the CPU, is struck
// out; what it did since its last good check, in the second case, and all that is left, in both, is done by the CPU.
template <typename Part>
void run_batches(Accelerator& accelerator, const KernelEntry& entry, const BatchedWork<Part>& work) {
  struct Waiting {
    std::uint64_t begin, end;
    Part part;
  };
  constexpr int kPatience = 8, kMostInVain = 16;
  std::vector<Waiting> waiting;
  std::uint64_t amount = std::max<std::uint64_t>(1, work.most), waits = 0;
  DeviceCounts counts;
  int easy = 0, in_vain = 0;
  const std::uint64_t limit = accelerator.options().batch;
  const auto cut = [&](std::uint64_t from, std::uint64_t worth) {
    const std::uint64_t to = work.cut(from, worth);
    return limit == 0 ? to : std::min(to, from + limit);
  };
  const auto keep_waiting = [&] {
    for (Waiting& one : waiting) work.keep(std::move(one.part));
    waiting.clear();
    waits = 0;
  };
  const auto by_cpu = [&](std::uint64_t begin, std::uint64_t end) {
    ++counts.fell_back;
    work.keep(work.on_cpu(begin, end));
    work.advance(end - begin);
  };
  std::uint64_t begin = 0;
  // Of a batch that did not fit the next try is checked in its place.
  bool due = false;
  while (begin < work.items && !accelerator.struck_out()) {
    due = due || accelerator.is_checked(entry);
    bool checked = due;
    const std::uint64_t end = cut(begin, checked ? std::min(amount, work.checked) : amount);
    std::optional<Part> part;
    bool too_large = false;
    try {
      part = work.on_device(begin, end);
    } catch (const OutOfMemory&) {
      too_large = true;
    } catch (const Failure& failure) {
      if (!is_of_device(failure)) throw;
      accelerator.strike_out(failure.error().what);
      break;
    }
    if (too_large) {
      ++counts.halved;
      easy = 0;
      if (cut(begin, 1) < end) {
        amount = std::max<std::uint64_t>(1, std::min(amount, checked ? work.checked : amount) / 2);
        continue;
      }
      keep_waiting();
      by_cpu(begin, end);
      begin = end;
      due = false;
      if (++in_vain == kMostInVain) accelerator.strike_out("its memory holds no batch of one item");
      continue;
    }
    ++counts.batches;
    in_vain = 0;
    if (work.weight && accelerator.options().verify == Verify::sample && !checked) {
      waits += work.weight(*part);
      checked = waits > work.most_waiting;
    }
    if (checked) {
      ++counts.verified;
      Part truth = work.on_cpu(begin, end);
      if (!work.same(*part, truth)) {
        accelerator.strike_out("it gave another answer than the CPU");
        for (const Waiting& one : waiting) {
          ++counts.fell_back;
          work.keep(work.on_cpu(one.begin, one.end));
        }
        waiting.clear();
        ++counts.fell_back;
        work.keep(std::move(truth));
        work.advance(end - begin);
        begin = end;
        break;
      }
    }
    due = false;
    waiting.push_back({begin, end, std::move(*part)});
    work.advance(end - begin);
    if (checked || accelerator.options().verify == Verify::none) keep_waiting();
    begin = end;
    if (++easy == kPatience && amount < work.most) {
      amount = std::min(work.most, 2 * amount);
      easy = 0;
    }
  }
  keep_waiting();
  while (begin < work.items) {
    const std::uint64_t end = work.cut(begin, work.most);
    by_cpu(begin, end);
    begin = end;
  }
  accelerator.add(counts);
}

}  // namespace millrace
