// Input: numbers and texts, row by row; or the rows of a file.
// Output: any range of these rows.
// Never: holds one long block that must be moved to grow, or more than its rows once it is complete.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/io/tensor/npy.h"
#include "src/io/tensor/row_cache.h"
#include "src/kernels/chart/chart.h"

namespace millrace::render {

using chart::kMaxPrice;
// Rows of a chunk: rows in memory are divided into chunks.
constexpr std::size_t kRowsPerChunk = 1 << 14;

// Values in memory.
template <typename T>
class ChunkedValues {
 public:
  void append(T value) {
    if (size_ % kRowsPerChunk == 0) {
      chunks_.emplace_back();
      // The first chunk grows: there may be thousands of short columns.
      if (size_ > 0) chunks_.back().reserve(kRowsPerChunk);
    }
    chunks_.back().push_back(value);
    ++size_;
  }
  // Called after the last value: gives unused memory back.
  void finish_appending() {
    if (!chunks_.empty()) chunks_.back().shrink_to_fit();
  }
  void read(std::size_t begin, std::span<T> out) const {
    while (!out.empty()) {
      const std::size_t at = begin % kRowsPerChunk, count = std::min(out.size(), kRowsPerChunk - at);
      std::copy_n(chunks_[begin / kRowsPerChunk].data() + at, count, out.begin());
      begin += count;
      out = out.subspan(count);
    }
  }
  T operator[](std::size_t row) const { return chunks_[row / kRowsPerChunk][row % kRowsPerChunk]; }
  std::size_t size() const { return size_; }
  Bytes memory() const {
    if (chunks_.empty()) return {};
    return {((chunks_.size() - 1) * kRowsPerChunk + chunks_.back().capacity()) * sizeof(T)};
  }

 private:
  std::vector<std::vector<T>> chunks_;
  std::size_t size_ = 0;
};
using NumberColumn = ChunkedValues<double>;

// Short texts in memory. Each takes as many bytes as the longest in its chunk. None holds a zero byte.
class TextColumn {
 public:
  void append(std::string_view text);
  // Called after the last text: gives unused memory back.
  void finish_appending();
  std::string operator[](std::size_t row) const { return std::string(view(row)); }
  std::string_view view(std::size_t row) const;
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::size_t longest() const { return longest_; }
  Bytes memory() const { return {memory_}; }

 private:
  struct Chunk {
    std::size_t width = 0, longest = 0;
    std::vector<char> bytes;
  };
  void repack(Chunk& chunk, std::size_t rows, std::size_t room, std::size_t width);
  std::vector<Chunk> chunks_;
  std::size_t size_ = 0, longest_ = 0, memory_ = 0;
};

// A column of prices: numbers in memory, or one number of each row of a file. Copied cheaply; thread-safe.
class SeriesColumn {
 public:
  SeriesColumn() = default;
  // Begins at row `first` of the numbers.
  explicit SeriesColumn(std::shared_ptr<const NumberColumn> held, std::size_t first = 0)
      : held_(std::move(held)), first_(first) {}
  SeriesColumn(std::shared_ptr<const RowFile> file, std::shared_ptr<RowCache> cache, ElementType type,
               std::size_t offset)
      : file_(std::move(file)), cache_(std::move(cache)), type_(type), offset_(offset) {}

  // Reads rows [begin, begin + out.size()). Values that are not finite, or beyond kMaxPrice, become NaN. Failure if the
  // file cannot be read any more.
  void read(std::size_t begin, std::span<double> out) const;

 private:
  std::shared_ptr<const NumberColumn> held_;
  std::size_t first_ = 0;
  std::shared_ptr<const RowFile> file_;
  std::shared_ptr<RowCache> cache_;
  ElementType type_ = kFloat64;
  std::size_t offset_ = 0;  // offset in a row of the file, in bytes
};

}  // namespace millrace::render
