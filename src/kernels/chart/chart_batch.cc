#include "src/kernels/chart/chart_batch.h"

#include <algorithm>

#include "src/device/batches.h"
#include "src/kernels/chart/chart_entries.h"

namespace millrace::chart {
namespace {

// Largest batch: it has 131,072 threads in chart_values, several for each thread that a large device runs at once. Not
// measured, as no device was available.
constexpr std::uint64_t kMaxCharts = 2048;

}  // namespace

std::vector<std::uint64_t> select_compared_charts(std::uint64_t begin, std::uint64_t end,
                                                  const std::vector<std::uint64_t>& given_up, VerifyMode verify) {
  std::vector<std::uint64_t> its;
  for (std::uint64_t chart = begin; chart < end; ++chart) {
    if (!std::binary_search(given_up.begin(), given_up.end(), chart)) its.push_back(chart);
  }
  std::vector<std::uint64_t> out = select_compared_items(0, its.size(), verify);
  for (std::uint64_t& one : out) one = its[one];
  return out;
}

std::uint64_t BatchDrawer::max_charts(std::uint64_t bytes_each) const {
  return std::max<std::uint64_t>(scratch_ ? scratch_->charts() : 0,
                                 ChartScratch::max_charts(spec_, accelerator_, bytes_each, kMaxCharts));
}

Queue& BatchDrawer::queue() {
  if (!queue_) queue_.emplace(accelerator_);
  return *queue_;
}

std::vector<std::uint64_t> BatchDrawer::draw(const SeriesArray& series, std::uint64_t begin, std::uint64_t end,
                                             const DeviceBuffer<std::uint8_t>& all_series,
                                             const DeviceBuffer<std::uint8_t>& all_images, bool aligned) {
  const std::uint64_t charts = end - begin, row_bytes = series.bytes(spec_);
  const bool series_on_device = all_series.size() > 0, images_on_device = all_images.size() > 0;
  Queue& queue = this->queue();
  if (!scratch_ || !scratch_->holds(charts, series.before, series.narrow)) {
    scratch_.reset();
    scratch_ =
        std::make_unique<ChartScratch>(spec_, format_, series.before, series.narrow, charts, accelerator_, queue);
  }
  ChartScratch& on = *scratch_;
  if (!series_on_device) {
    on.series.ensure_size(accelerator_, charts * row_bytes, "series");
    const auto* data = static_cast<const std::uint8_t*>(series.data);
    queue.upload(std::span(data + begin * row_bytes, charts * row_bytes), on.series.buffer);
  }
  if (!images_on_device) on.images.ensure_size(accelerator_, charts * format_.image_bytes(), "images");
  const DeviceBuffer<std::uint8_t>& rows = series_on_device ? all_series : on.series.buffer;
  if (series.ends != nullptr) {
    on.fixed.ensure_size(accelerator_, 2 * charts, "scales");
    queue.upload(std::span(series.ends + 2 * begin, 2 * charts), on.fixed.buffer);
  }
  on.begin(queue, charts, aligned, series.ends != nullptr);
  launch(charts, series.narrow ? on.no_reals : rows.as<double>(), series.narrow ? rows.as<float>() : on.no_singles,
         series_on_device ? begin : 0, images_on_device ? all_images : on.images.buffer, images_on_device ? begin : 0);
  std::vector<std::uint64_t> out = on.given_up(queue, charts);
  for (std::uint64_t& chart : out) chart += begin;
  return out;
}

void BatchDrawer::launch(std::uint64_t charts, const DeviceBuffer<double>& wide, const DeviceBuffer<float>& narrow,
                         std::uint64_t series_first, const DeviceBuffer<std::uint8_t>& out, std::uint64_t image_first) {
  ChartScratch& on = *scratch_;
  const KernelSource& source = bodies::chart();
  const DeviceBuffer<std::uint32_t> words = out.as<std::uint32_t>();
  const auto run = [&](const KernelEntry& entry, std::uint64_t threads, const auto&... arguments) {
    const std::uint64_t blocks = (threads + entry.threads - 1) / entry.threads;
    queue_->launch(source, entry, blocks, arguments...);
    on.expect(entry, blocks);
  };
  const std::uint64_t n = spec_.rows, strokes = charts * on.layers;
  run(kValues, charts * kValues.threads, on.spec, wide, narrow,
      on.fixed.buffer.size() > 0 ? on.fixed.buffer : on.no_reals, series_first, on.values, on.scale_ends, on.done);
  run(kPlaces, charts * n, on.spec, on.values, on.scale_ends, on.ys, on.places, on.heights, on.done);
  const std::uint64_t bands = charts * on.bands;
  if (spec_.style != Style::line) {
    run(kPaintBars, bands * kPaintBars.threads, on.spec, on.table, on.values, on.scale_ends, on.places, on.heights,
        image_first, out, words, on.done);
    return;
  }
  run(kLegs, strokes * n, on.spec, on.ys, on.normals, on.done);
  run(kPieces, 2 * strokes, on.spec, on.reals, on.ys, on.normals, on.begins, on.ends, on.piece_legs, on.spans,
      on.piece_of, on.state, on.done);
  run(kSlants, strokes * n, on.spec, on.reals, on.ys, on.normals, on.begins, on.ends, on.piece_legs, on.spans,
      on.piece_of, on.slants, on.slant_reals, on.part_rows, on.done);
  run(kCorners, 2 * strokes * n, on.spec, on.reals, on.ys, on.normals, on.begins, on.ends, on.piece_legs, on.spans,
      on.slants, on.slant_reals, on.corners, on.counts, on.state, on.done);
  run(kLines, 2 * strokes * n, on.spec, on.piece_legs, on.spans, on.piece_of, on.slants, on.corners, on.counts,
      on.tiles, on.tile_rows, on.edges, on.edge_counts, on.part_rows, on.state, on.done);
  run(kPaintLines, bands * kPaintLines.threads, on.spec, on.table, on.slants, on.slant_reals, on.tiles, on.tile_rows,
      on.corners, on.counts, on.edges, on.edge_counts, on.part_rows, on.heights, on.state, image_first, out, words,
      on.done);
}

}  // namespace millrace::chart
