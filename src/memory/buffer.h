// Input: a number of elements.
// Output: memory aligned for the vectors of every CPU level, reused when it is requested again.
// Never: shrinks, moves its contents without a growth, or runs constructors. Throws OutOfMemory if the system has none
// left.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

namespace millrace {

// Size in bytes of the widest vector of any CPU level, and of a cache line.
inline constexpr std::size_t kAlignment = 64;

// Throws OutOfMemory: the system may lack memory that the budget has granted.
[[noreturn]] void throw_no_memory(std::size_t bytes);

// Uninitialised memory for trivially copyable values. resize() keeps the allocation when it is large enough. So a stage
// that keeps its buffers between items allocates only when an item is larger than all before it.
template <typename T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(std::size_t count) { resize(count); }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer(std::move(other)).swap(*this);
    return *this;
  }
  ~Buffer() { std::free(data_); }

  // The contents are unspecified after a growth. At least one vector of bytes past the end may be read.
  void resize(std::size_t count) {
    if (count > capacity_) {
      const std::size_t bytes = (count * sizeof(T) + 2 * kAlignment - 1) / kAlignment * kAlignment;
      void* fresh = std::aligned_alloc(kAlignment, bytes);
      if (fresh == nullptr) throw_no_memory(bytes);
      std::free(data_);
      data_ = static_cast<T*>(fresh);
      capacity_ = count;
    }
    count_ = count;
  }

  // Makes room for at least `count` elements and keeps the first `used` ones.
  void grow(std::size_t count, std::size_t used) {
    if (count <= count_) return;
    Buffer larger(std::max(count, 2 * count_));
    if (used > 0) std::memcpy(larger.data_, data_, used * sizeof(T));
    swap(larger);
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return count_; }
  std::size_t capacity() const { return capacity_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + count_; }
  std::span<T> span() { return {data_, count_}; }
  std::span<const T> span() const { return {data_, count_}; }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    std::swap(capacity_, other.capacity_);
  }

  T* data_ = nullptr;
  std::size_t count_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace millrace
