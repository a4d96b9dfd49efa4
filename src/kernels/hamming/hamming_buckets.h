// Input: codes and one part of a plan.
// Output: the codes in the order of their part's bits, as columns of 32-bit words, and the start of each bucket.
// Never: compares codes.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "src/kernels/hamming/hamming_cost.h"
#include "src/kernels/hamming/hamming_match.h"

namespace millrace::hamming {

// Layout while sorting. `roomy` goes through a copy of records by the key's high bits, so that every write lands near
// others. `lean` writes each code to its place at once.
enum class BucketLayout { roomy, lean };

// Returns the number of columns that are kept in bucket order: both of a 64-bit code; of a 256-bit code those that are
// tested.
template <typename Code>
int stored_columns(const IndexPart& part) {
  return sizeof(Code) == 8 ? 2 : part.tested;
}

template <typename Code>
class Buckets {
 public:
  void fill(std::span<const Code> codes, const IndexPart& part, BucketLayout layout, const Executor& executor);

  BucketSide side() const;
  const Buffer<std::uint32_t>& ids() const { return ids_; }        // position -> index into `codes`
  const Buffer<std::uint32_t>& starts() const { return starts_; }  // 2^width + 1 of them
  // Returns the bucket that holds this position.
  std::uint32_t bucket_of(std::size_t position) const;

  // Returns the bytes held after `count` codes were filled in by each part of a plan, with what is held now and kept.
  std::uint64_t bytes_with(const JoinPlan& plan, std::uint64_t count, BucketLayout layout) const;
  // Lends memory for other uses until the next fill(); the second function returns the bytes held with that.
  std::span<std::uint32_t> scratch(std::size_t words);
  std::uint64_t bytes_with_scratch(std::size_t words) const;

 private:
  int stored_ = 0;
  Buffer<std::uint32_t> columns_[kMaxColumns];
  Buffer<std::uint32_t> ids_, starts_;
  Buffer<std::uint32_t> records_;
};

extern template class Buckets<std::uint64_t>;
extern template class Buckets<Code256>;

// Buckets of both sides of a join, reserved together: the next join uses their memory again.
template <typename Code>
struct BucketPair {
  Buckets<Code> a, b;
  std::optional<Reservation> memory;

  // Reserves this many bytes, including those already held. If that fails, it holds nothing and returns false.
  bool try_reserve_for(Budget& budget, const std::function<Bytes()>& bytes) {
    if (memory && bytes() <= memory->size()) return true;
    a = {};
    b = {};
    memory.reset();
    memory = budget.try_reserve(bytes());
    return memory.has_value();
  }
  void reserve_for(Budget& budget, const std::function<Bytes()>& bytes) {
    if (!try_reserve_for(budget, bytes)) memory = budget.reserve(bytes(), "codes in bucket order");
  }
};

}  // namespace millrace::hamming
