// Input: a budget and a number of elements.
// Output: memory together with its reservation in the budget; both are released together.
// Never: is larger than its reservation.
#pragma once

#include <string>
#include <utility>

#include "src/memory/budget.h"
#include "src/memory/buffer.h"

namespace millrace {

// Host memory with a persistent reservation. Throws OutOfMemory if the budget or the system has too little.
template <typename T>
class ReservedBuffer {
 public:
  ReservedBuffer() = default;
  ReservedBuffer(Budget& budget, std::size_t count, const std::string& purpose)
      : reservation_(budget.reserve(Bytes{std::uint64_t{count} * sizeof(T)}, purpose)), buffer_(count) {}

  T* data() { return buffer_.data(); }
  const T* data() const { return buffer_.data(); }
  std::size_t size() const { return buffer_.size(); }
  std::span<T> span() { return buffer_.span(); }
  std::span<const T> span() const { return buffer_.span(); }
  Bytes reserved() const { return reservation_.size(); }

 private:
  // The reservation is declared before the memory, so that it is returned after the memory is freed.
  Reservation reservation_;
  Buffer<T> buffer_;
};

}  // namespace millrace
