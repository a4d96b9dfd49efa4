#include "src/jobs/render/dataset.h"

#include <fmt/format.h>

#include <utility>

#include "src/base/text.h"

namespace millrace::render {
namespace {

using ArrayRows = ArraySpec::Rows;

// Returns true for stores whose index is an array per column; in folders the index is a text.
bool has_columns(ChartStore store) { return store == ChartStore::hdf5 || store == ChartStore::zarr; }

ArraySpec images_of(const ChartLayout& layout, ChartStore store) {
  ArraySpec out{.name = "images", .type = layout.floats ? kFloat32 : kUint8, .shape = layout.image};
  out.extension = store == ChartStore::jpeg ? "jpg" : store == ChartStore::webdataset ? "tar" : choice_name(store);
  if (has_columns(store)) {
    out.rows = ArrayRows::compressed;
  } else if (store != ChartStore::npy && store != ChartStore::dat) {
    out.rows = ArrayRows::files;
    out.type = kUint8;
    out.shape.clear();
  }
  return out;
}

void add_index_columns(const ChartLayout& layout, std::vector<ArraySpec>& out) {
  const auto add = [&out](const char* name, ElementType type) { out.push_back({.name = name, .type = type}); };
  const auto add_text = [&out](const char* name, std::uint32_t bytes) {
    out.push_back({.name = name, .rows = ArrayRows::texts, .text_bytes = bytes});
  };
  add("index/file", kUint32);
  add("index/row", kUint64);
  if (layout.symbol_bytes > 0) add_text("index/symbol", layout.symbol_bytes);
  if (layout.date_bytes == 0) return;
  add_text("index/date", layout.date_bytes);
  add_text("index/end_date", layout.date_bytes);
  add("index/end_time", kInt64);
}

}  // namespace

StoreKind kind_of(const RenderOptions& options) {
  if (options.store == ChartStore::hdf5) return options.virtual_set ? StoreKind::hdf5_virtual : StoreKind::hdf5;
  return options.store == ChartStore::zarr ? StoreKind::zarr : StoreKind::folder;
}

DatasetSpec make_dataset_spec(const ChartLayout& layout, ChartStore store) {
  DatasetSpec out;
  out.unit = "charts";
  out.rows = layout.charts;
  out.attributes = layout.attributes;
  out.arrays.push_back(images_of(layout, store));
  if (store == ChartStore::webdataset) return out;
  out.arrays.push_back({.name = "sequences", .type = kFloat32, .shape = layout.sequence(), .extension = "npy"});
  if (!layout.horizons.empty()) {
    ArraySpec labels{.name = "labels", .type = kFloat32, .shape = {layout.horizons.size()}, .extension = "npy"};
    if (has_columns(store)) labels.attributes.emplace_back("horizons", layout.horizons);
    out.arrays.push_back(std::move(labels));
  }
  if (has_columns(store)) {
    add_index_columns(layout, out.arrays);
    return out;
  }
  ArraySpec index{.name = "index", .rows = ArrayRows::texts, .extension = "csv"};
  index.header = "chart,file,row,symbol,date,end_date,end_time";
  for (const std::int64_t horizon : layout.horizons) index.header += fmt::format(",label_{}", horizon);
  out.arrays.push_back(std::move(index));
  return out;
}

void ChartRowWriter::append(std::size_t image_bytes, const ChartRow& row, RowBlock& block) const {
  std::size_t array = 0;
  ++block.rows;
  if (store_ != ChartStore::npy && store_ != ChartStore::dat) {
    block.arrays[array].lengths.push_back(static_cast<std::uint32_t>(image_bytes));
  }
  if (store_ == ChartStore::webdataset) return;
  block.arrays[++array].append(std::span(row.sequence));
  if (!layout_.horizons.empty()) block.arrays[++array].append(std::span(row.labels));
  ++array;
  if (has_columns(store_)) {
    append_index(row, array, block);
  } else {
    block.arrays[array].append_text(line(row));
  }
}

void ChartRowWriter::append_index(const ChartRow& row, std::size_t array, RowBlock& block) const {
  block.arrays[array++].append(row.file);
  block.arrays[array++].append(row.row);
  if (layout_.symbol_bytes > 0) block.arrays[array++].append_text(row.symbol);
  if (layout_.date_bytes == 0) return;
  block.arrays[array++].append_text(row.date);
  block.arrays[array++].append_text(row.end_date);
  block.arrays[array].append(row.end_time);
}

std::string ChartRowWriter::line(const ChartRow& row) const {
  const std::string time = row.end_time == kNoTime ? std::string() : std::to_string(row.end_time);
  std::string out = fmt::format("{},{},{},{},{},{},{}", row.chart, row.file, row.row, quote_csv_field(row.symbol),
                                quote_csv_field(row.date), quote_csv_field(row.end_date), time);
  for (const float label : row.labels) out += label == label ? fmt::format(",{}", label) : std::string(",");
  return out + "\n";
}

}  // namespace millrace::render
