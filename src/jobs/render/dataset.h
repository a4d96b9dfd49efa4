// Input: the layout of all charts; then, chart by chart, its stored image and its data.
// Output: the description of the dataset that holds the charts, and its rows.
// Never: depends on how a dataset is stored on the disk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/io/store/dataset.h"
#include "src/jobs/render/series/source.h"
#include "src/pipeline/checkpoint/shard_store.h"

namespace millrace::render {

// Properties of the charts that decide the arrays of a dataset.
struct ChartLayout {
  std::uint64_t charts = 0;
  std::vector<std::uint64_t> image;       // shape of one chart: [H, W], [H, W, 3], or [H, (W + 7) / 8] for bits
  bool floats = false;                    // values have 32 bits; else they are bytes
  std::uint32_t window = 0, columns = 1;  // shape of a row of `sequences`
  std::vector<std::int64_t> horizons;     // columns of `labels`; none: no labels
  std::uint32_t symbol_bytes = 0;         // for `index`: bytes of the longest symbol; 0: no symbols
  std::uint32_t date_bytes = 0;           // bytes of the longest date; 0: no dates
  Attributes attributes;

  std::uint64_t image_bytes() const {
    std::uint64_t out = floats ? 4 : 1;
    for (const std::uint64_t side : image) out *= side;
    return out;
  }
  // Returns the shape of one chart's sequence: [n] or [n, columns].
  std::vector<std::uint64_t> sequence() const {
    return columns > 1 ? std::vector<std::uint64_t>{window, columns} : std::vector<std::uint64_t>{window};
  }
};

// Data of a chart besides its image.
struct ChartRow {
  std::uint64_t chart = 0;
  std::vector<float> sequence;  // rows of its window as read: [window, columns]
  std::vector<float> labels;    // one for each horizon
  // Position of its window in the inputs, and its times.
  std::uint32_t file = 0;
  std::uint64_t row = 0;            // first row of the window in its series
  std::string symbol;               // symbol of its series
  std::string date, end_date;       // dates of its first and its last row, as they were written
  std::int64_t end_time = kNoTime;  // time of its last row
};

// Returns the description of the dataset. Its arrays are `images`; `sequences` (float32, as read); `labels` (float32)
// if there are horizons; and `index`. The columns of `index` are file and row, and, if they are known, symbol, date,
// end_date and end_time. In folders the index is a text, and the samples of a WebDataset hold everything.
DatasetSpec make_dataset_spec(const ChartLayout& layout, ChartStore store);
StoreKind kind_of(const RenderOptions& options);

// Appends rows of that dataset. For one thread.
class ChartRowWriter {
 public:
  ChartRowWriter(const ChartLayout& layout, ChartStore store) : layout_(layout), store_(store) {}
  // Appends a chart's row. The block's first array already has the stored image, of this many bytes.
  void append(std::size_t image_bytes, const ChartRow& row, RowBlock& block) const;

 private:
  void append_index(const ChartRow& row, std::size_t array, RowBlock& block) const;
  std::string line(const ChartRow& row) const;

  const ChartLayout& layout_;
  const ChartStore store_;
};

}  // namespace millrace::render
