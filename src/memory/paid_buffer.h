// Input: a budget, and how many elements are needed.
// Output: memory that the budget has paid for, given back together.
// Never: is larger than what was paid.
#pragma once

#include <string>
#include <utility>

#include "src/memory/budget.h"
#include "src/memory/buffer.h"

namespace millrace {

// Host memory. OutOfMemory where the budget or the system has none.
template <typename T>
class PaidBuffer {
 public:
  PaidBuffer() = default;
  PaidBuffer(Budget& budget, std::size_t count, const std::string& purpose)
      : paid_(budget.reserve(Bytes{std::uint64_t{count} * sizeof(T)}, purpose)), buffer_(count) {}

  T* data() { return buffer_.data(); }
  const T* data() const { return buffer_.data(); }
  std::size_t size() const { return buffer_.size(); }
  std::span<T> span() { return buffer_.span(); }
  std::span<const T> span() const { return buffer_.span(); }
  Bytes paid() const { return paid_.size(); }

 private:
  // Before the memory, so that it is given back after it.
  Reservation paid_;
  Buffer<T> buffer_;
};

}  // namespace millrace
