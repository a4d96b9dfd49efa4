#include "src/kernels/chart/chart_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "src/device/batches.h"
#include "src/kernels/chart/chart_entries.h"
#include "src/kernels/chart/chart_extras.h"
#include "src/kernels/chart/chart_known.h"
#include "src/kernels/chart/chart_scratch.h"
#include "src/kernels/chart/series_painter.h"

namespace millrace::chart {
namespace {

// What a check may compare of a batch whose charts are not all compared.
constexpr std::uint64_t kCheckedOneIn = 256;
// Charts at once: enough for every multiprocessor, few enough that what lies between kernels stays in a cache.
constexpr std::uint64_t kMostCharts = 2048;

// A batch as the device made it.
struct Drawn {
  std::uint64_t begin = 0, end = 0;
  std::vector<std::uint64_t> left;  // what it left to the CPU
};

}  // namespace

std::string why_on_cpu(const Spec& spec) {
  if (spec.width > kMostWidth) return fmt::format("charts wider than {} pixels are the CPU's", kMostWidth);
  if (spec.rows > kMostRows) return fmt::format("charts of more than {} rows are the CPU's", kMostRows);
  if (spec.rows * spec.average > kMostSums) return "moving averages as long as these are the CPU's";
  return "";
}

struct DeviceDrawer::State {
  State(const Spec& spec, const Format& format, const Executor& executor, Accelerator& accelerator, Budget& budget)
      : spec(spec),
        format(format),
        executor(executor),
        accelerator(accelerator),
        budget(budget),
        painters(this->spec, format) {}

  void draw(const SeriesArray& from, bool from_device, const Images& to);
  Drawn on_device(std::uint64_t begin, std::uint64_t end);
  void launch(Scratch& on, std::uint64_t charts, const DeviceBuffer<double>& wide, const DeviceBuffer<float>& narrow,
              std::uint64_t series_first, const DeviceBuffer<std::uint8_t>& out, std::uint64_t image_first);
  bool same(const Drawn& drawn);
  void by_cpu(std::uint64_t begin, std::uint64_t end);
  void by_cpu(std::uint64_t chart) { by_cpu(chart, chart + 1); }
  // The rows of charts, where the host can read them.
  const std::uint8_t* rows_of(std::uint64_t begin, std::uint64_t end, std::vector<std::uint8_t>& memory);

  std::uint64_t series_bytes() const { return series.bytes(spec); }
  // Charts of rows that the host can read.
  void paint(const std::uint8_t* rows, std::size_t count, std::uint8_t* out) const {
    painters.paint({rows, series.narrow, count, series.before}, executor, out);
  }

  const Spec spec;
  const Format& format;
  const Executor& executor;
  Accelerator& accelerator;
  Budget& budget;
  const SeriesPainters painters;
  std::optional<Queue> queue;
  std::unique_ptr<Scratch> scratch;
  // Of this call.
  SeriesArray series;
  bool series_on_device = false;
  Images images;
  DeviceBuffer<std::uint8_t> all_series, all_images;  // where they are on the device
};

DeviceDrawer::DeviceDrawer(const Spec& spec, const Format& format, const Executor& executor, Accelerator& accelerator,
                           Budget& budget)
    : state_(std::make_unique<State>(spec, format, executor, accelerator, budget)) {}
DeviceDrawer::~DeviceDrawer() = default;

void DeviceDrawer::draw(const SeriesArray& series, bool series_on_device, const Images& images) {
  state_->draw(series, series_on_device, images);
}

void DeviceDrawer::State::draw(const SeriesArray& from, bool from_device, const Images& to) {
  series = from;
  series_on_device = from_device;
  images = to;
  all_series.release();
  all_images.release();
  if (series.count == 0) return;
  if (series_on_device) {
    all_series = DeviceBuffer<std::uint8_t>::adopt(accelerator, series.data, series.count * series_bytes(), "series");
  }
  if (images.on_device) {
    all_images =
        DeviceBuffer<std::uint8_t>::adopt(accelerator, images.data, series.count * format.image_bytes(), "images");
  }
  const std::string why = why_on_cpu(spec);
  if (!why.empty()) accelerator.leave(why);
  if (!why.empty() || !accelerator.ready(bodies::chart(), kEntries, gives_known_answers)) {
    by_cpu(0, series.count);
    return;
  }
  BatchedWork<Drawn> work;
  work.items = series.count;
  work.most = Scratch::most_charts(spec, accelerator, series_on_device ? 0 : series_bytes(),
                                   images.on_device ? 0 : format.image_bytes(), kMostCharts);
  work.checked = work.most;  // of which some are
  work.cut = [&](std::uint64_t begin, std::uint64_t amount) {
    return std::min(work.items, begin + std::max<std::uint64_t>(1, amount));
  };
  work.on_device = [this](std::uint64_t begin, std::uint64_t end) { return on_device(begin, end); };
  // What is compared is drawn when it is: see same().
  work.on_cpu = [](std::uint64_t begin, std::uint64_t end) { return Drawn{begin, end, {}}; };
  work.same = [this](Drawn& drawn, Drawn&) { return same(drawn); };
  work.keep = [this](const Drawn& drawn) {
    for (const std::uint64_t chart : drawn.left) by_cpu(chart);
    DeviceCounts counts;
    counts.left = drawn.left.size();
    accelerator.add(counts);
  };
  work.keep_by_cpu = [this](std::uint64_t begin, std::uint64_t end) { by_cpu(begin, end); };
  work.weight = [](const Drawn&) { return std::uint64_t{1}; };
  work.most_waiting = kCheckedOneIn;
  run_batches(accelerator, work);
}

Drawn DeviceDrawer::State::on_device(std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t charts = end - begin, row_bytes = series_bytes(), image = format.image_bytes();
  if (!queue) queue.emplace(accelerator);
  if (!scratch || !scratch->holds(charts, series.before, series.narrow)) {
    scratch.reset();
    scratch = std::make_unique<Scratch>(spec, format, series.before, series.narrow, charts, accelerator, *queue);
  }
  Scratch& on = *scratch;
  DeviceBuffer<std::uint8_t> rows = all_series, out = all_images;
  if (!series_on_device) {
    on.series.at_least(accelerator, charts * row_bytes, "series");
    rows = on.series.buffer;
    const auto* data = static_cast<const std::uint8_t*>(series.data);
    queue->upload(std::span(data + begin * row_bytes, charts * row_bytes), rows);
  }
  if (!images.on_device) {
    on.images.at_least(accelerator, charts * image, "images");
    out = on.images.buffer;
  }
  const bool aligned = !images.on_device || reinterpret_cast<std::uintptr_t>(images.data) % 4 == 0;
  on.begin(*queue, charts, aligned);
  launch(on, charts, series.narrow ? on.no_reals : rows.as<double>(), series.narrow ? rows.as<float>() : on.no_singles,
         series_on_device ? begin : 0, out, images.on_device ? begin : 0);
  Drawn drawn{begin, end, {}};
  for (const std::uint64_t chart : on.left_to_cpu(*queue, charts)) drawn.left.push_back(begin + chart);
  if (!images.on_device) {
    auto* to = static_cast<std::uint8_t*>(images.data);
    queue->download(out, std::span(to + begin * image, charts * image));
  }
  return drawn;
}

void DeviceDrawer::State::launch(Scratch& on, std::uint64_t charts, const DeviceBuffer<double>& wide,
                                 const DeviceBuffer<float>& narrow, std::uint64_t series_first,
                                 const DeviceBuffer<std::uint8_t>& out, std::uint64_t image_first) {
  const KernelSource& source = bodies::chart();
  const DeviceBuffer<std::uint32_t> words = out.as<std::uint32_t>();
  const auto run = [&](const KernelEntry& entry, std::uint64_t threads, const auto&... arguments) {
    const std::uint64_t blocks = (threads + entry.threads - 1) / entry.threads;
    queue->launch(source, entry, blocks, arguments...);
    on.expect(entry, blocks);
  };
  const std::uint64_t n = spec.rows, strokes = charts * on.layers;
  run(kValues, charts * kValues.threads, on.spec, wide, narrow, series_first, on.values, on.ends, on.done);
  run(kPlaces, charts * n, on.spec, on.values, on.ends, on.ys, on.places, on.heights, on.done);
  const std::uint64_t bands = charts * on.bands;
  if (spec.style != Style::line) {
    run(kPaintBars, bands * kPaintBars.threads, on.spec, on.table, on.values, on.ends, on.places, on.heights,
        image_first, out, words, on.done);
    return;
  }
  run(kLegs, strokes * n, on.spec, on.ys, on.normals, on.done);
  run(kPieces, 2 * strokes, on.spec, on.reals, on.ys, on.normals, on.begins, on.piece_ends, on.legs, on.spans,
      on.piece_of, on.state, on.done);
  run(kSlants, strokes * n, on.spec, on.reals, on.ys, on.normals, on.begins, on.piece_ends, on.legs, on.spans,
      on.piece_of, on.slants, on.slant_reals, on.part_rows, on.done);
  run(kCorners, 2 * strokes * n, on.spec, on.reals, on.ys, on.normals, on.begins, on.piece_ends, on.legs, on.spans,
      on.slants, on.slant_reals, on.corners, on.counts, on.state, on.done);
  run(kLines, 2 * strokes * n, on.spec, on.legs, on.spans, on.piece_of, on.slants, on.corners, on.counts, on.tiles,
      on.edges, on.edge_counts, on.part_rows, on.state, on.done);
  run(kPaintLines, bands * kPaintLines.threads, on.spec, on.table, on.slants, on.slant_reals, on.tiles, on.corners,
      on.counts, on.edges, on.edge_counts, on.part_rows, on.heights, on.state, image_first, out, words, on.done);
}

const std::uint8_t* DeviceDrawer::State::rows_of(std::uint64_t begin, std::uint64_t end,
                                                 std::vector<std::uint8_t>& memory) {
  const std::uint64_t each = series_bytes();
  if (!series_on_device) return static_cast<const std::uint8_t*>(series.data) + begin * each;
  memory.resize((end - begin) * each);
  if (!queue) queue.emplace(accelerator);
  queue->download(all_series, std::span(memory), begin * each);
  return memory.data();
}

// The first of a batch's charts, the last, and one in 256; with --verify-device all, all of them.
bool DeviceDrawer::State::same(const Drawn& drawn) {
  const bool all = accelerator.options().verify == Verify::all;
  const std::uint64_t image = format.image_bytes(), each = series_bytes();
  std::vector<std::uint64_t> asked;
  for (std::uint64_t chart = drawn.begin; chart < drawn.end; ++chart) {
    const bool sample = all || chart + 1 == drawn.end || (chart - drawn.begin) % kCheckedOneIn == 0;
    if (sample && !std::binary_search(drawn.left.begin(), drawn.left.end(), chart)) asked.push_back(chart);
  }
  // As many at a time as there are threads.
  const std::size_t step = static_cast<std::size_t>(executor.threads());
  const Reservation paid = budget.reserve({std::min(step, asked.size()) * (2 * image + each)}, "charts compared");
  std::vector<std::uint8_t> truth(std::min(step, asked.size()) * image), found(truth.size()), memory;
  std::vector<std::uint8_t> rows(std::min(step, asked.size()) * each);
  for (std::size_t from = 0; from < asked.size(); from += step) {
    const std::size_t count = std::min(step, asked.size() - from);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t chart = asked[from + i];
      std::memcpy(rows.data() + i * each, rows_of(chart, chart + 1, memory), each);
      const std::span<std::uint8_t> there(found.data() + i * image, image);
      if (images.on_device) {
        queue->download(all_images, there, chart * image);
      } else {
        std::memcpy(there.data(), static_cast<const std::uint8_t*>(images.data) + chart * image, image);
      }
    }
    paint(rows.data(), count, truth.data());
    if (std::memcmp(truth.data(), found.data(), count * image) != 0) return false;
  }
  return true;
}

void DeviceDrawer::State::by_cpu(std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t image = format.image_bytes(), each = series_bytes();
  // As many at a time as the host has memory for, where they are not drawn in place.
  constexpr std::uint64_t kTogether = 64 << 20;
  const bool in_place = !series_on_device && !images.on_device;
  const std::uint64_t step = in_place ? end - begin : std::max<std::uint64_t>(1, kTogether / (image + each));
  std::vector<std::uint8_t> rows_memory, image_memory;
  for (std::uint64_t from = begin; from < end; from += step) {
    const std::uint64_t to = std::min(end, from + step);
    const Reservation paid =
        budget.reserve({in_place ? 0 : (to - from) * (image + each)}, "charts on their way to a device");
    const std::uint8_t* rows = rows_of(from, to, rows_memory);
    auto* out = static_cast<std::uint8_t*>(images.data) + from * image;
    if (images.on_device) {
      image_memory.resize((to - from) * image);
      out = image_memory.data();
    }
    paint(rows, to - from, out);
    if (images.on_device) {
      if (!queue) queue.emplace(accelerator);
      queue->upload(std::span<const std::uint8_t>(image_memory), all_images, from * image);
    }
  }
}

}  // namespace millrace::chart
