#include "src/kernels/hamming/hamming_buckets.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>

#include "src/kernels/hamming/hamming_nodes.h"
#include "src/kernels/hamming/hamming_words.h"

namespace millrace::hamming {
namespace {

// Number of key bits up to which the codes are written to their places at once. With more open ends than the
// second-level TLB and cache hold, each write is a miss.
constexpr int kDirectBits = 11;
constexpr int kFirstBits = 9;

template <typename Code>
std::uint32_t key_of(const Code& code, const IndexPart& part) {
  return static_cast<std::uint32_t>((word64(code, part.word) & part.mask()) >> part.shift);
}

// Returns a word of a code as it is stored, rotated by Part::rotation.
template <typename Code>
std::uint32_t stored_word(const Code& code, const IndexPart& part, std::size_t c) {
  if constexpr (kWords64<Code> == 1) {
    return static_cast<std::uint32_t>(std::rotr(word64(code, 0), part.rotation) >> (32 * part.columns[c]));
  } else {
    return word32(code, part.columns[c]);
  }
}

// Turns counts into places[range][bucket]: the position of each range's first code of a bucket.
void counts_to_places(std::vector<std::uint32_t>& counts, std::size_t ranges, std::size_t buckets,
                      std::vector<std::uint32_t>& starts) {
  starts.resize(buckets + 1);
  std::uint32_t total = 0;
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    starts[bucket] = total;
    for (std::size_t range = 0; range < ranges; ++range) {
      const std::uint32_t count = counts[range * buckets + bucket];
      counts[range * buckets + bucket] = total;
      total += count;
    }
  }
  starts[buckets] = total;
}

}  // namespace

template <typename Code>
std::uint64_t Buckets<Code>::bytes_with(const JoinPlan& plan, std::uint64_t count, BucketLayout layout) const {
  std::uint64_t columns[kMaxColumns], ids = 4 * ids_.capacity(), starts = 4 * starts_.capacity(),
                                      records = 4 * records_.capacity(), counters = 0;
  for (int c = 0; c < kMaxColumns; ++c) columns[c] = 4 * columns_[c].capacity();
  for (const IndexPart& part : plan.parts) {
    const auto stored = static_cast<std::uint64_t>(stored_columns<Code>(part));
    for (std::uint64_t c = 0; c < stored; ++c) columns[c] = std::max(columns[c], 4 * (count + kOverread));
    ids = std::max(ids, 4 * count);
    starts = std::max(starts, 4 * ((std::uint64_t{1} << part.width) + 1));
    if (part.width <= kDirectBits) continue;
    if (layout == BucketLayout::roomy) records = std::max(records, 4 * count * (stored + 2));
    if (layout == BucketLayout::lean) counters = std::max(counters, std::uint64_t{32} << part.width);
  }
  return std::accumulate(std::begin(columns), std::end(columns), ids + starts + records + counters);
}

template <typename Code>
std::span<std::uint32_t> Buckets<Code>::scratch(std::size_t words) {
  allocate(records_, words);
  return records_.span();
}

template <typename Code>
std::uint64_t Buckets<Code>::bytes_with_scratch(std::size_t words) const {
  std::uint64_t bytes = 4 * (ids_.capacity() + starts_.capacity() + std::max(records_.capacity(), words));
  for (const Buffer<std::uint32_t>& column : columns_) bytes += 4 * column.capacity();
  return bytes;
}

template <typename Code>
void Buckets<Code>::fill(std::span<const Code> codes, const IndexPart& part, BucketLayout layout,
                         const Executor& executor) {
  const std::size_t n = codes.size();
  stored_ = stored_columns<Code>(part);
  const auto stored = static_cast<std::size_t>(stored_);
  for (std::size_t c = 0; c < stored; ++c) allocate(columns_[c], n + kOverread);
  allocate(ids_, n);
  const std::size_t buckets = std::size_t{1} << part.width;
  starts_.resize(buckets + 1);

  const bool two_steps = part.width > kDirectBits && layout == BucketLayout::roomy;
  const int low_bits = two_steps ? part.width - kFirstBits : 0;
  const std::size_t firsts = buckets >> low_bits;
  // The lean layout has one counter a bucket and range, so it takes few ranges.
  const std::size_t ranges = two_steps || part.width <= kDirectBits
                                 ? choose_range_count(n, executor)
                                 : std::min<std::size_t>(8, choose_range_count(n, executor));
  const std::size_t length = (n + ranges - 1) / ranges;
  std::vector<std::uint32_t> places(ranges * firsts), first_starts;
  const auto each_code = [&](const auto& body) {
    executor.parallel_for(ranges, 1, [&](std::size_t from, std::size_t to) {
      for (std::size_t range = from; range < to; ++range) {
        std::uint32_t* const place = &places[range * firsts];
        for (std::size_t id = range * length; id < std::min(n, (range + 1) * length); ++id) {
          const std::uint32_t key = key_of(codes[id], part);
          body(id, key, place[key >> low_bits]);
        }
      }
    });
  };
  each_code([](std::size_t, std::uint32_t, std::uint32_t& count) { ++count; });
  counts_to_places(places, ranges, firsts, first_starts);
  if (!two_steps) {
    std::copy(first_starts.begin(), first_starts.end(), starts_.begin());
    each_code([&](std::size_t id, std::uint32_t, std::uint32_t& place) {
      const std::size_t at = place++;
      ids_[at] = static_cast<std::uint32_t>(id);
      for (std::size_t c = 0; c < stored; ++c) columns_[c][at] = stored_word(codes[id], part, c);
    });
    return;
  }

  const std::size_t record = stored + 2;
  allocate(records_, n * record);
  each_code([&](std::size_t id, std::uint32_t key, std::uint32_t& place) {
    std::uint32_t* const out = &records_[record * place++];
    out[0] = static_cast<std::uint32_t>(id);
    out[1] = key;
    for (std::size_t c = 0; c < stored; ++c) out[2 + c] = stored_word(codes[id], part, c);
  });
  const std::size_t lows = std::size_t{1} << low_bits;
  executor.parallel_for(firsts, 4, [&](std::size_t from, std::size_t to) {
    std::vector<std::uint32_t> place(lows);
    for (std::size_t first = from; first < to; ++first) {
      const std::size_t begin = first_starts[first], end = first_starts[first + 1];
      std::fill(place.begin(), place.end(), 0);
      for (std::size_t at = begin; at < end; ++at) ++place[records_[record * at + 1] & (lows - 1)];
      auto total = static_cast<std::uint32_t>(begin);
      for (std::size_t low = 0; low < lows; ++low) {
        starts_[(first << low_bits) + low] = total;
        const std::uint32_t count = place[low];
        place[low] = total;
        total += count;
      }
      for (std::size_t at = begin; at < end; ++at) {
        const std::uint32_t* const in = &records_[record * at];
        const std::size_t to_place = place[in[1] & (lows - 1)]++;
        ids_[to_place] = in[0];
        for (std::size_t c = 0; c < stored; ++c) columns_[c][to_place] = in[2 + c];
      }
    }
  });
  starts_[buckets] = static_cast<std::uint32_t>(n);
}

template <typename Code>
BucketSide Buckets<Code>::side() const {
  BucketSide side;
  for (int c = 0; c < stored_; ++c) side.columns[c] = columns_[c].data();
  side.starts = starts_.data();
  return side;
}

template <typename Code>
std::uint32_t Buckets<Code>::bucket_of(std::size_t position) const {
  const std::uint32_t* const begin = starts_.data();
  const auto after = std::upper_bound(begin, begin + starts_.size(), static_cast<std::uint32_t>(position));
  return static_cast<std::uint32_t>(after - begin - 1);
}

template class Buckets<std::uint64_t>;
template class Buckets<Code256>;

}  // namespace millrace::hamming
