// Input: what charts there will be; and chart by chart, its stored picture and what is said about it.
// Output: what the dataset is that a store keeps them in; and its rows.
// Never: knows how a dataset lies on the disk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/io/store/dataset.h"
#include "src/jobs/render/series/source.h"
#include "src/pipeline/checkpoint/part_store.h"

namespace millrace::render {

// What decides the arrays of a dataset of charts.
struct ChartLayout {
  std::uint64_t charts = 0;
  std::vector<std::uint64_t> image;       // of one chart: [H, W], [H, W, 3], or [H, (W + 7) / 8] for bits
  bool floats = false;                    // 32 bits a value; else bytes
  std::uint32_t window = 0, columns = 1;  // of `sequences`
  std::vector<std::int64_t> horizons;     // of `labels`; none: no labels
  std::uint32_t symbol_bytes = 0;         // of `index`: the longest symbol; 0: no symbols
  std::uint32_t date_bytes = 0;           // the longest date; 0: no dates
  Attributes attributes;

  std::uint64_t image_bytes() const {
    std::uint64_t out = floats ? 4 : 1;
    for (const std::uint64_t side : image) out *= side;
    return out;
  }
  // Of one chart's sequence: [n] or [n, columns].
  std::vector<std::uint64_t> sequence() const {
    return columns > 1 ? std::vector<std::uint64_t>{window, columns} : std::vector<std::uint64_t>{window};
  }
};

// What is said about a chart beside its picture.
struct ChartRow {
  std::uint64_t chart = 0;
  std::vector<float> sequence;  // its rows as read: [window, columns]
  std::vector<float> labels;    // a horizon each
  // Where its window lies, and when.
  std::uint32_t file = 0;
  std::uint64_t row = 0;            // its first, of its series
  std::string symbol;               // of its series
  std::string date, end_date;       // of its first row and of its last, as they were written
  std::int64_t end_time = kNoTime;  // of the last
};

// The dataset: `images`; `sequences` float32, as read; `labels` float32 where there are horizons; `index`, whose
// columns are file, row, and where they are known symbol, date, end_date and end_time. In folders the index is a text,
// and the samples of a WebDataset hold everything.
DatasetSpec dataset_of(const ChartLayout& layout, Store store);
StoreKind kind_of(const Options& options);

// Appends rows of that dataset: one thread's.
class RowWriter {
 public:
  RowWriter(const ChartLayout& layout, Store store) : layout_(layout), store_(store) {}
  // Where the block's first array already has what the store keeps of the picture, so many bytes.
  void append(std::size_t image_bytes, const ChartRow& row, RowBlock& block) const;

 private:
  void append_index(const ChartRow& row, std::size_t array, RowBlock& block) const;
  std::string line(const ChartRow& row) const;

  const ChartLayout& layout_;
  const Store store_;
};

}  // namespace millrace::render
