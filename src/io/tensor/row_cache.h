// Input: files of rows of numbers, and the numbers of the rows that are wanted.
// Output: the bytes of those rows, from blocks that stay in memory while there is room.
// Never: holds more than its slots, or maps a file: a truncated file is an error, not a crash.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/base/mutex.h"
#include "src/base/sizes.h"
#include "src/memory/buffer.h"

namespace millrace {

// Rows of equal length, one after the other. Thread-safe.
class RowFile {
 public:
  RowFile(std::uint64_t rows, std::size_t row_bytes);
  virtual ~RowFile() = default;
  RowFile(const RowFile&) = delete;
  RowFile& operator=(const RowFile&) = delete;

  // Reads rows [first, first + count) as count * row_bytes() bytes. Throws Failure if they cannot be read.
  virtual void read(std::uint64_t first, std::size_t count, std::byte* out) const = 0;

  std::uint64_t rows() const { return rows_; }
  std::size_t row_bytes() const { return row_bytes_; }
  std::uint64_t number() const { return number_; }  // unique among all files, and never 0

 private:
  const std::uint64_t rows_, number_;
  const std::size_t row_bytes_;
};

// Rows that are stored in a file uncompressed. It is open only while it is read: inputs may be more than descriptors.
class PlainRowFile : public RowFile {
 public:
  PlainRowFile(std::string path, std::uint64_t offset, std::uint64_t rows, std::size_t row_bytes)
      : RowFile(rows, row_bytes), path_(std::move(path)), offset_(offset) {}
  void read(std::uint64_t first, std::size_t count, std::byte* out) const override;

 private:
  const std::string path_;
  const std::uint64_t offset_;
};

// Blocks of rows that were read, of any number of files. Thread-safe. A block can be in only one slot, so a look-up
// checks one slot: with neighbouring windows nearly every read finds its block there.
class RowCache {
 public:
  // Bytes of a block: so few that reading it for one window costs not much more than the window's own bytes.
  static constexpr std::size_t kBlockBytes = 64 << 10;
  // Number of slots, for threads that are a few dozen windows apart.
  static constexpr std::size_t kSlots = 64;
  static constexpr Bytes memory() { return {kSlots * kBlockBytes}; }

  RowCache() : slots_(kSlots) {}

  // Calls take(bytes, count) for consecutive ranges of the rows [first, first + count). The bytes are valid only during
  // the call.
  template <typename Take>
  void visit(const RowFile& file, std::uint64_t first, std::size_t count, const Take& take) {
    const std::size_t rows = std::max<std::size_t>(1, kBlockBytes / file.row_bytes());
    while (count > 0) {
      const std::uint64_t block = first / rows;
      const auto skipped = static_cast<std::size_t>(first % rows);
      const std::size_t part = std::min(count, rows - skipped);
      Slot& slot = slots_[(block + 7 * file.number()) % kSlots];
      const MutexLock lock(slot.mutex);
      fill(slot, file, block, rows);
      take(slot.bytes.data() + skipped * file.row_bytes(), part);
      first += part;
      count -= part;
    }
  }

 private:
  struct alignas(64) Slot {
    Mutex mutex;
    std::uint64_t file MILLRACE_GUARDED_BY(mutex) = 0, block MILLRACE_GUARDED_BY(mutex) = 0;
    Buffer<std::byte> bytes MILLRACE_GUARDED_BY(mutex);
  };
  static void fill(Slot& slot, const RowFile& file, std::uint64_t block, std::size_t rows)
      MILLRACE_REQUIRES(slot.mutex);

  std::vector<Slot> slots_;
};

}  // namespace millrace
