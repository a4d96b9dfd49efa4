#include "src/kernels/hamming/hamming_nodes.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "src/kernels/hamming/hamming_words.h"

namespace millrace::hamming {
namespace {

// A bijection of 64-bit words (odd multipliers and shifted xors), so for 64-bit codes equal hashes
// are equal codes.
std::uint64_t mixed(std::uint64_t x) {
  x ^= x >> 32;
  x *= 0x9E3779B97F4A7C15u;
  x ^= x >> 29;
  x *= 0xD6E8FEB86659FD93u;
  return x ^ (x >> 32);
}

template <typename Code>
std::uint64_t hash_of(const Code& code) {
  std::uint64_t hash = 0;
  for (int w = 0; w < kWords64<Code>; ++w) hash = mixed(hash ^ word64(code, w)) + (w == 0 ? 0 : hash);
  return hash;
}

// Gives rows of one partition with equal codes the first of them as `first`.
class FirstRows {
 public:
  template <typename Code>
  void find(std::span<const Code> codes, std::span<const std::uint64_t> hashes, std::span<const std::uint32_t> rows,
            std::uint32_t* first) {
    const std::size_t size = std::bit_ceil(2 * hashes.size() + 2);
    slots_.assign(size, 0);
    const std::size_t mask = size - 1;
    for (std::size_t at = 0; at < hashes.size(); ++at) {
      // The partition is the hash's high bits, so the slot is taken from its low ones.
      std::size_t slot = hashes[at] & mask;
      for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
        const std::size_t other = slots_[slot] - 1;
        if (hashes[other] != hashes[at]) continue;
        if (kWords64<Code> == 1 || codes[rows[other]] == codes[rows[at]]) {
          first[rows[at]] = rows[other];
          break;
        }
      }
      if (slots_[slot] == 0) slots_[slot] = static_cast<std::uint32_t>(at + 1);
    }
  }

 private:
  std::vector<std::uint32_t> slots_;
};

struct Ranges {
  std::size_t count, length;
  std::size_t begin(std::size_t at) const { return at * length; }
};

}  // namespace

void advise_huge_pages(void* data, std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t kPage = 4096;
  if (bytes < (std::size_t{4} << 20)) return;
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(data) + kPage - 1) / kPage * kPage;
  const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(data) + bytes) / kPage * kPage;
  // A refusal costs only speed.
  (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#else
  (void)data;
  (void)bytes;
#endif
}

void throw_if_cancelled(const Executor& executor) {
  if (executor.cancelled()) throw Failure(interrupted("the join was not finished"));
}

template <typename Code>
CollapsedCodes<Code> collapse(std::span<const Code> rows, const Executor& executor, Budget& budget) {
  const std::size_t n = rows.size();
  if (n >= 0xFFFFFFFFu) {
    throw Failure(ErrorCode::too_large, "too many codes (the limit is 4,294,967,294)", "codes", "split the collection");
  }
  CollapsedCodes<Code> result;
  result.nodes.memory = budget.reserve({4 * n}, "nodes of codes");
  result.memory = budget.reserve({sizeof(Code) * n}, "codes of nodes");
  const Reservation scratch = budget.reserve({16 * n}, "finding equal codes");
  allocate(result.nodes.of_row, n);
  allocate(result.codes, n);
  Buffer<std::uint64_t> hashes;
  Buffer<std::uint32_t> row_of, first;
  allocate(hashes, n);
  allocate(row_of, n);
  allocate(first, n);
  collapse_into(rows, executor, {hashes.span(), row_of.span(), first.span()}, result);
  return result;
}

template <typename Code>
void collapse_into(std::span<const Code> rows, const Executor& executor, const CollapseScratch& scratch,
                   CollapsedCodes<Code>& result) {
  const std::size_t n = rows.size();
  CodeNodes& nodes = result.nodes;
  nodes.of_row.resize(n);
  result.codes.resize(n);
  nodes.count = 0;
  if (n == 0) return;
  const std::span<std::uint64_t> hashes = scratch.hashes;
  const std::span<std::uint32_t> row_of = scratch.row_of, first = scratch.first;

  // A partition has about 4096 rows: its hash table of 32 KiB stays in the first-level cache.
  const int bits = std::clamp(static_cast<int>(std::bit_width(n / 4096)), 1, 11);
  const std::size_t partitions = std::size_t{1} << bits;
  Ranges ranges{choose_range_count(n, executor), 0};
  ranges.length = (n + ranges.count - 1) / ranges.count;
  std::vector<std::uint32_t> places(ranges.count * partitions);
  executor.parallel_for(ranges.count, 1, [&](std::size_t from, std::size_t to) {
    for (std::size_t range = from; range < to; ++range) {
      std::uint32_t* const counts = &places[range * partitions];
      for (std::size_t row = ranges.begin(range); row < std::min(n, ranges.begin(range + 1)); ++row) {
        ++counts[hash_of(rows[row]) >> (64 - bits)];
        first[row] = static_cast<std::uint32_t>(row);
      }
    }
  });
  std::vector<std::size_t> starts(partitions + 1);
  std::uint32_t total = 0;
  for (std::size_t partition = 0; partition < partitions; ++partition) {
    starts[partition] = total;
    for (std::size_t range = 0; range < ranges.count; ++range) {
      const std::uint32_t count = places[range * partitions + partition];
      places[range * partitions + partition] = total;
      total += count;
    }
  }
  starts[partitions] = n;
  executor.parallel_for(ranges.count, 1, [&](std::size_t from, std::size_t to) {
    for (std::size_t range = from; range < to; ++range) {
      std::uint32_t* const place = &places[range * partitions];
      for (std::size_t row = ranges.begin(range); row < std::min(n, ranges.begin(range + 1)); ++row) {
        const std::uint64_t hash = hash_of(rows[row]);
        const std::uint32_t at = place[hash >> (64 - bits)]++;
        hashes[at] = hash;
        row_of[at] = static_cast<std::uint32_t>(row);
      }
    }
  });
  throw_if_cancelled(executor);
  executor.parallel_for(partitions, 8, [&](std::size_t from, std::size_t to) {
    FirstRows finder;
    for (std::size_t partition = from; partition < to; ++partition) {
      const std::size_t begin = starts[partition], length = starts[partition + 1] - begin;
      finder.find(rows, {hashes.data() + begin, length}, {row_of.data() + begin, length}, first.data());
    }
  });
  throw_if_cancelled(executor);

  std::vector<std::uint32_t> firsts(ranges.count + 1);
  executor.parallel_for(ranges.count, 1, [&](std::size_t from, std::size_t to) {
    for (std::size_t range = from; range < to; ++range) {
      std::uint32_t found = 0;
      for (std::size_t row = ranges.begin(range); row < std::min(n, ranges.begin(range + 1)); ++row) {
        found += first[row] == row;
      }
      firsts[range + 1] = found;
    }
  });
  for (std::size_t range = 0; range < ranges.count; ++range) firsts[range + 1] += firsts[range];
  nodes.count = firsts[ranges.count];
  executor.parallel_for(ranges.count, 1, [&](std::size_t from, std::size_t to) {
    for (std::size_t range = from; range < to; ++range) {
      std::uint32_t node = firsts[range];
      for (std::size_t row = ranges.begin(range); row < std::min(n, ranges.begin(range + 1)); ++row) {
        if (first[row] != row) continue;
        result.codes[node] = rows[row];
        nodes.of_row[row] = node++;
      }
    }
  });
  executor.parallel_for(n, std::size_t{1} << 16, [&](std::size_t from, std::size_t to) {
    for (std::size_t row = from; row < to; ++row) {
      if (first[row] != row) nodes.of_row[row] = nodes.of_row[first[row]];
    }
  });
  throw_if_cancelled(executor);
}

template void collapse_into(std::span<const std::uint64_t>, const Executor&, const CollapseScratch&,
                            CollapsedCodes<std::uint64_t>&);
template void collapse_into(std::span<const Code256>, const Executor&, const CollapseScratch&,
                            CollapsedCodes<Code256>&);
template CollapsedCodes<std::uint64_t> collapse(std::span<const std::uint64_t>, const Executor&, Budget&);
template CollapsedCodes<Code256> collapse(std::span<const Code256>, const Executor&, Budget&);

}  // namespace millrace::hamming
