#include "src/kernels/chart/chart_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
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

// Of a batch, charts that the CPU draws too.
constexpr std::uint64_t kComparedOneIn = 256;
// Charts at once: 131,072 threads of a usual line's legs, several for each place that a large device has for one. Not
// measured: no device was to be had.
constexpr std::uint64_t kMostCharts = 2048;
// What is drawn by the CPU and copied at once.
constexpr std::uint64_t kTogether = 64 << 20;

// A batch as the device made it.
struct Drawn {
  std::uint64_t begin = 0, end = 0;
  std::vector<std::uint64_t> given_up;  // charts that are the CPU's, in order
};

}  // namespace

std::string why_on_cpu(const Spec& spec) {
  if (spec.width > kMostWidth) return fmt::format("charts wider than {} pixels are the CPU's", kMostWidth);
  if (spec.rows > kMostRows || spec.rows > 64 + 16 * static_cast<std::size_t>(spec.width)) {
    return fmt::format("charts of more than {} rows, or 16 for each pixel of their width, are the CPU's", kMostRows);
  }
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
  void by_cpu(std::span<const std::uint64_t> charts);
  // Nothing of the caller's is held any more, nor under way: whole calls have waited for all of it.
  void let_go(bool whole);
  // Copies a chart's rows, or its image, from wherever it is, or its image there.
  void read_rows(std::uint64_t chart, std::uint8_t* to);
  void read_image(std::uint64_t chart, std::span<std::uint8_t> to);
  void write_image(std::uint64_t chart, std::span<const std::uint8_t> from);

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
  DrawnCharts counts;
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

const DrawnCharts& DeviceDrawer::counts() const { return state_->counts; }

void DeviceDrawer::State::let_go(bool whole) {
  // The end of a queue waits for what was begun.
  if (!whole) queue.reset();
  all_series.release();
  all_images.release();
  series = {};
  images = {};
}

void DeviceDrawer::State::draw(const SeriesArray& from, bool from_device, const Images& to) {
  if (from.count == 0) return;
  struct LetGo {
    State& state;
    bool whole = false;
    ~LetGo() { state.let_go(whole); }
  } at_the_end{*this};
  series = from;
  series_on_device = from_device;
  images = to;
  if (series_on_device) {
    all_series = DeviceBuffer<std::uint8_t>::adopt(accelerator, series.data, series.count * series_bytes(), "series");
  }
  if (images.on_device) {
    all_images =
        DeviceBuffer<std::uint8_t>::adopt(accelerator, images.data, series.count * format.image_bytes(), "images");
  }
  const std::string why = why_on_cpu(spec);
  if (!why.empty()) accelerator.leave(why);
  if (!accelerator.may_use(bodies::chart())) {
    accelerator.leave("nobody has attested its kernels for this hardware, and nobody asked for it by name");
  }
  if (!why.empty() || !accelerator.ready(bodies::chart(), kEntries, gives_known_answers)) {
    by_cpu(0, series.count);
    at_the_end.whole = true;
    return;
  }
  BatchedWork<Drawn> work;
  work.items = series.count;
  work.most = std::max<std::uint64_t>(scratch ? scratch->charts() : 0,
                                      Scratch::most_charts(spec, accelerator, series_on_device ? 0 : series_bytes(),
                                                           images.on_device ? 0 : format.image_bytes(), kMostCharts));
  work.checked = work.most;
  work.sampled = true;
  work.cut = [&](std::uint64_t begin, std::uint64_t amount) {
    return std::min(work.items, begin + std::max<std::uint64_t>(1, amount));
  };
  work.on_device = [this](std::uint64_t begin, std::uint64_t end) { return on_device(begin, end); };
  // What is compared is drawn when it is: see same().
  work.on_cpu = [](std::uint64_t begin, std::uint64_t end) { return Drawn{begin, end, {}}; };
  work.same = [this](Drawn& drawn, Drawn&) { return same(drawn); };
  work.keep = [this](const Drawn& drawn) {
    counts.by_device += drawn.end - drawn.begin - drawn.given_up.size();
    if (drawn.given_up.empty()) return;
    accelerator.leave("lines with gaps that are hardly wider than the line are the CPU's, chart by chart");
    by_cpu(drawn.given_up);
  };
  work.keep_by_cpu = [this](std::uint64_t begin, std::uint64_t end) { by_cpu(begin, end); };
  work.weight = [](const Drawn&) { return std::uint64_t{1}; };
  run_batches(accelerator, work);
  at_the_end.whole = true;
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
  for (const std::uint64_t chart : on.given_up(*queue, charts)) drawn.given_up.push_back(begin + chart);
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
  run(kValues, charts * kValues.threads, on.spec, wide, narrow, series_first, on.values, on.scale_ends, on.done);
  run(kPlaces, charts * n, on.spec, on.values, on.scale_ends, on.ys, on.places, on.heights, on.done);
  const std::uint64_t bands = charts * on.bands;
  if (spec.style != Style::line) {
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

void DeviceDrawer::State::read_rows(std::uint64_t chart, std::uint8_t* to) {
  const std::uint64_t each = series_bytes();
  if (!series_on_device) {
    std::memcpy(to, static_cast<const std::uint8_t*>(series.data) + chart * each, each);
    return;
  }
  if (!queue) queue.emplace(accelerator);
  queue->download(all_series, std::span(to, each), chart * each);
}

void DeviceDrawer::State::read_image(std::uint64_t chart, std::span<std::uint8_t> to) {
  if (images.on_device) {
    queue->download(all_images, to, chart * to.size());
  } else {
    std::memcpy(to.data(), static_cast<const std::uint8_t*>(images.data) + chart * to.size(), to.size());
  }
}

void DeviceDrawer::State::write_image(std::uint64_t chart, std::span<const std::uint8_t> from) {
  if (images.on_device) {
    if (!queue) queue.emplace(accelerator);
    queue->upload(from, all_images, chart * from.size());
  } else {
    std::memcpy(static_cast<std::uint8_t*>(images.data) + chart * from.size(), from.data(), from.size());
  }
}

// The first of a batch's charts, the last, and one in 256; with --verify-device all, all of them.
bool DeviceDrawer::State::same(const Drawn& drawn) {
  const bool all = accelerator.options().verify == Verify::all;
  const std::uint64_t image = format.image_bytes(), each = series_bytes();
  // Of those that the device drew.
  std::vector<std::uint64_t> its, asked;
  for (std::uint64_t chart = drawn.begin; chart < drawn.end; ++chart) {
    if (!std::binary_search(drawn.given_up.begin(), drawn.given_up.end(), chart)) its.push_back(chart);
  }
  for (std::size_t i = 0; i < its.size(); ++i) {
    if (all || i % kComparedOneIn == 0 || i + 1 == its.size()) asked.push_back(its[i]);
  }
  counts.compared += asked.size();
  // As many at a time as there are threads.
  const std::size_t step = std::min(asked.size(), static_cast<std::size_t>(executor.threads()));
  const Reservation paid = budget.reserve({step * (2 * image + each)}, "charts compared");
  std::vector<std::uint8_t> rows(step * each), truth(step * image), found(step * image);
  for (std::size_t from = 0; from < asked.size(); from += std::max<std::size_t>(step, 1)) {
    const std::size_t count = std::min(step, asked.size() - from);
    for (std::size_t i = 0; i < count; ++i) {
      read_rows(asked[from + i], rows.data() + i * each);
      read_image(asked[from + i], std::span(found).subspan(i * image, image));
    }
    paint(rows.data(), count, truth.data());
    if (std::memcmp(truth.data(), found.data(), count * image) != 0) return false;
  }
  return true;
}

void DeviceDrawer::State::by_cpu(std::uint64_t begin, std::uint64_t end) {
  if (!series_on_device && !images.on_device) {
    counts.by_cpu += end - begin;
    paint(static_cast<const std::uint8_t*>(series.data) + begin * series_bytes(), end - begin,
          static_cast<std::uint8_t*>(images.data) + begin * format.image_bytes());
    return;
  }
  std::vector<std::uint64_t> charts(end - begin);
  std::iota(charts.begin(), charts.end(), begin);
  by_cpu(charts);
}

void DeviceDrawer::State::by_cpu(std::span<const std::uint64_t> charts) {
  counts.by_cpu += charts.size();
  const std::uint64_t image = format.image_bytes(), each = series_bytes();
  const std::size_t step = std::min<std::size_t>(charts.size(), std::max<std::size_t>(1, kTogether / (image + each)));
  const Reservation paid = budget.reserve({step * (image + each)}, "charts that a device leaves to the CPU");
  std::vector<std::uint8_t> rows(step * each), out(step * image);
  for (std::size_t from = 0; from < charts.size(); from += step) {
    const std::size_t count = std::min(step, charts.size() - from);
    for (std::size_t i = 0; i < count; ++i) read_rows(charts[from + i], rows.data() + i * each);
    paint(rows.data(), count, out.data());
    for (std::size_t i = 0; i < count; ++i) {
      write_image(charts[from + i], std::span(out).subspan(i * image, image));
    }
  }
}

}  // namespace millrace::chart
