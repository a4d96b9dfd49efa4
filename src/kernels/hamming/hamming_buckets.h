// Enters: codes and one part of a plan.
// Leaves: the codes in the order of their part's bits, as columns of 32-bit words, and where each bucket starts.
// Never: compares codes.
#pragma once

#include "src/kernels/hamming/hamming_cost.h"
#include "src/kernels/hamming/hamming_match.h"

namespace millrace::hamming {

// `roomy` goes through a copy of records by the key's high bits, so that every write lands near
// others; `lean` writes each code to its place at once.
enum class Layout { roomy, lean };

// Columns that are kept in bucket order: both of a 64-bit code; of a 256-bit code those that are
// tested.
template <typename Code>
int stored_columns(const Part& part) {
  return sizeof(Code) == 8 ? 2 : part.tested;
}

// Bytes for `count` codes in the widest part of a plan.
template <typename Code>
std::uint64_t bucket_bytes(const JoinPlan& plan, std::uint64_t count, Layout layout);

template <typename Code>
class Buckets {
 public:
  void fill(std::span<const Code> codes, const Part& part, Layout layout, const Executor& executor);

  Side side() const;
  const Buffer<std::uint32_t>& ids() const { return ids_; }        // position -> index into `codes`
  const Buffer<std::uint32_t>& starts() const { return starts_; }  // 2^width + 1 of them
  // The bucket that holds this position.
  std::uint32_t bucket_of(std::size_t position) const;

 private:
  int stored_ = 0;
  Buffer<std::uint32_t> columns_[kMaxColumns];
  Buffer<std::uint32_t> ids_, starts_;
  Buffer<std::uint32_t> records_;
};

extern template class Buckets<std::uint64_t>;
extern template class Buckets<Code256>;

}  // namespace millrace::hamming
