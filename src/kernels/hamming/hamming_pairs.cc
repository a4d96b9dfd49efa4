#include "src/kernels/hamming/hamming_pairs.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "src/kernels/hamming/hamming_nodes.h"

namespace millrace::hamming {
namespace {

// Number of pairs above which parts are sorted in place: their scratch would leave the cache, and cost memory.
constexpr std::size_t kMaxRadix = std::size_t{1} << 18;
constexpr std::size_t kMinRadix = 512;

std::uint64_t key_of(const HammingPair& pair) { return std::uint64_t{pair.i} << 32 | pair.j; }

// Sorts pairs that agree in all but the lowest `i_bits` bits of i. It is a stable counting sort for each byte of the
// key, the last byte first. Four passes replace the 17 levels of a comparison sort of 100,000 pairs.
class PartSorter {
 public:
  PartSorter(int i_bits, int j_bits) : i_bits_(i_bits), j_bits_(j_bits) {}

  void sort(std::span<HammingPair> pairs) {
    if (pairs.size() < kMinRadix || pairs.size() > kMaxRadix) {
      std::sort(pairs.begin(), pairs.end(),
                [](const HammingPair& x, const HammingPair& y) { return key_of(x) < key_of(y); });
      return;
    }
    other_.resize(pairs.size());
    std::span<HammingPair> from = pairs, to = other_.span();
    const auto pass = [&](int shift) {
      std::uint32_t places[256] = {};
      for (const HammingPair& pair : from) ++places[(key_of(pair) >> shift) & 255];
      std::uint32_t total = 0;
      for (std::uint32_t& place : places) total += std::exchange(place, total);
      for (const HammingPair& pair : from) to[places[(key_of(pair) >> shift) & 255]++] = pair;
      std::swap(from, to);
    };
    for (int shift = 0; shift < j_bits_; shift += 8) pass(shift);
    // Bits above i_bits_ are all the same, so whole bytes do no harm.
    for (int shift = 0; shift < i_bits_; shift += 8) pass(32 + shift);
    if (from.data() != pairs.data()) std::copy(from.begin(), from.end(), pairs.begin());
  }

 private:
  const int i_bits_, j_bits_;
  Buffer<HammingPair> other_;
};

}  // namespace

void PairCounter::take(std::vector<HammingPair>& pairs) {
  std::uint64_t rows = pairs.size();
  if (!rows_of_i_.empty() || !rows_of_j_.empty()) {
    rows = 0;
    for (const HammingPair& pair : pairs) rows += count_row_pairs(pair, rows_of_i_, rows_of_j_);
  }
  pairs_ += pairs.size();
  rows_ += rows;
  pairs.clear();
}

void PairCollector::take(std::vector<HammingPair>& pairs) {
  if (pairs.empty()) return;
  Reservation memory = budget_.reserve({pairs.size() * sizeof(HammingPair)}, "pairs found");
  // A copy has the right size: room that a vector kept for growth was not reserved.
  std::vector<HammingPair> chunk(pairs);
  pairs.clear();
  const MutexLock lock(mutex_);
  chunks_.push_back(std::move(chunk));
  memory_.push_back(std::move(memory));
}

void PairCollector::clear() {
  const MutexLock lock(mutex_);
  chunks_.clear();
  memory_.clear();
}

HammingPairs PairCollector::sorted(std::uint64_t limit, std::uint64_t second_limit, const Executor& executor) {
  MutexLock lock(mutex_);
  std::uint64_t total = 0;
  for (const auto& chunk : chunks_) total += chunk.size();
  HammingPairs result;
  result.memory = budget_.reserve({total * sizeof(HammingPair)}, "sorted pairs");
  allocate(result.list, total);
  if (total == 0) return result;
  std::vector<std::vector<HammingPair>> chunks = std::exchange(chunks_, {});
  std::vector<Reservation> memory = std::exchange(memory_, {});
  lock.unlock();

  // Pairs go into ranges of i with about 1024 pairs each, and each range is then sorted.
  const int wanted = std::clamp(static_cast<int>(std::bit_width(total / 1024)), 0, 12);
  const int shift = std::max(0, static_cast<int>(std::bit_width(limit)) - wanted);
  const std::size_t parts = static_cast<std::size_t>(limit >> shift) + 1;
  const std::size_t groups = std::min(chunks.size(), 4 * static_cast<std::size_t>(executor.threads()));
  std::vector<std::uint64_t> places(groups * parts);
  const auto each = [&](const auto& body) {
    executor.parallel_for(groups, 1, [&](std::size_t from, std::size_t to) {
      for (std::size_t group = from; group < to; ++group) {
        for (std::size_t c = group * chunks.size() / groups; c < (group + 1) * chunks.size() / groups; ++c) {
          for (const HammingPair& pair : chunks[c]) body(pair, places[group * parts + (pair.i >> shift)]);
        }
      }
    });
  };
  each([](const HammingPair&, std::uint64_t& count) { ++count; });
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
  each([&](const HammingPair& pair, std::uint64_t& place) { result.list[place++] = pair; });
  chunks.clear();
  memory.clear();
  const std::uint64_t largest = std::min<std::uint64_t>(total, kMaxRadix);
  const Reservation scratch = budget_.reserve(
      {largest * sizeof(HammingPair) * static_cast<std::uint64_t>(executor.threads())}, "sorting pairs");
  const int j_bits = static_cast<int>(std::bit_width(second_limit));
  executor.parallel_for(parts, (parts + 63) / 64, [&](std::size_t from, std::size_t to) {
    PartSorter sorter(shift, j_bits);
    for (std::size_t part = from; part < to; ++part) {
      sorter.sort(result.list.span().subspan(starts[part], starts[part + 1] - starts[part]));
    }
  });
  throw_if_cancelled(executor);
  return result;
}

}  // namespace millrace::hamming
