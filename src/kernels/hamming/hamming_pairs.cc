#include "src/kernels/hamming/hamming_pairs.h"

#include <algorithm>
#include <bit>

#include "src/kernels/hamming/hamming_nodes.h"

namespace millrace::hamming {

void PairCollector::take(std::vector<Pair>& pairs) {
  if (pairs.empty()) return;
  Reservation memory = budget_.reserve({pairs.size() * sizeof(Pair)}, "pairs found");
  // A copy of the right size: what a vector kept for growth was not paid for.
  std::vector<Pair> chunk(pairs);
  pairs.clear();
  const std::lock_guard lock(mutex_);
  chunks_.push_back(std::move(chunk));
  memory_.push_back(std::move(memory));
}

void PairCollector::clear() {
  chunks_.clear();
  memory_.clear();
}

Pairs PairCollector::sorted(std::uint64_t limit, const Executor& executor) {
  std::uint64_t total = 0;
  for (const auto& chunk : chunks_) total += chunk.size();
  Pairs result;
  result.memory = budget_.reserve({total * sizeof(Pair)}, "sorted pairs");
  allocate(result.list, total);
  if (total == 0) return result;

  // Ranges of i with about 1024 pairs each, then a sort inside each range.
  const int wanted = std::clamp(static_cast<int>(std::bit_width(total / 1024)), 0, 12);
  const int shift = std::max(0, static_cast<int>(std::bit_width(limit)) - wanted);
  const std::size_t parts = static_cast<std::size_t>(limit >> shift) + 1;
  const std::size_t groups =
      std::min(chunks_.size(), 4 * static_cast<std::size_t>(executor.threads()));
  std::vector<std::uint64_t> places(groups * parts);
  const auto each = [&](const auto& body) {
    executor.parallel_for(groups, 1, [&](std::size_t from, std::size_t to) {
      for (std::size_t group = from; group < to; ++group) {
        for (std::size_t c = group * chunks_.size() / groups;
             c < (group + 1) * chunks_.size() / groups; ++c) {
          for (const Pair& pair : chunks_[c]) body(pair, places[group * parts + (pair.i >> shift)]);
        }
      }
    });
  };
  each([](const Pair&, std::uint64_t& count) { ++count; });
  std::vector<std::uint64_t> starts(parts + 1);
  std::uint64_t at = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    starts[part] = at;
    for (std::size_t group = 0; group < groups; ++group) {
      const std::uint64_t count = places[group * parts + part];
      places[group * parts + part] = at;
      at += count;
    }
  }
  starts[parts] = at;
  each([&](const Pair& pair, std::uint64_t& place) { result.list[place++] = pair; });
  clear();
  executor.parallel_for(parts, 16, [&](std::size_t from, std::size_t to) {
    for (std::size_t part = from; part < to; ++part) {
      std::sort(result.list.begin() + starts[part], result.list.begin() + starts[part + 1],
                [](const Pair& x, const Pair& y) {
                  return (std::uint64_t{x.i} << 32 | x.j) < (std::uint64_t{y.i} << 32 | y.j);
                });
    }
  });
  throw_if_cancelled(executor);
  return result;
}

}  // namespace millrace::hamming
