// Memory as a card gives it: what somebody else left there is in it. A page that nobody writes to costs nothing.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>
#include <vector>

namespace millrace::fake {

class StaleMemory {
 public:
  StaleMemory() = default;
  explicit StaleMemory(std::size_t bytes) : size_(bytes) {
    if (bytes == 0) return;
    data_ = static_cast<std::byte*>(map(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1));
    // Over and over the same piece, copied where it is written to.
    for (std::size_t at = 0; at < bytes; at += kPiece)
      map(data_ + at, std::min(kPiece, bytes - at), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, piece());
  }
  StaleMemory(StaleMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  StaleMemory& operator=(StaleMemory other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~StaleMemory() {
    if (data_) ::munmap(data_, size_);
  }

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 20;

  static void* map(void* at, std::size_t bytes, int rights, int flags, int file) {
    void* const mapped = ::mmap(at, bytes, rights, flags, file, 0);
    if (mapped == MAP_FAILED) std::abort();
    return mapped;
  }
  static int piece() {
    static const int file = [] {
      const int made = ::memfd_create("stale memory", MFD_CLOEXEC);
      const std::vector<std::byte> bytes(kPiece, std::byte{0xA5});
      if (made < 0 || ::write(made, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) std::abort();
      return made;
    }();
    return file;
  }

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace millrace::fake
