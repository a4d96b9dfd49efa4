#include "src/kernels/chart/chart_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <vector>

#include "src/device/batches.h"
#include "src/kernels/chart/chart_batch.h"
#include "src/kernels/chart/chart_entries.h"
#include "src/kernels/chart/chart_indicators.h"
#include "src/kernels/chart/chart_test_vectors.h"
#include "src/kernels/chart/series_painter.h"

namespace millrace::chart {
namespace {

// A batch drawn by the device.
struct Drawn {
  std::uint64_t begin = 0, end = 0;
  std::vector<std::uint64_t> given_up;  // charts that the CPU must draw, in order
};

}  // namespace

std::string cpu_only_reason(const ChartSpec& spec) {
  if (spec.width > kMaxWidth) return fmt::format("charts wider than {} pixels are drawn on the CPU", kMaxWidth);
  if (spec.rows > kMaxRows || spec.rows > 64 + 16 * static_cast<std::size_t>(spec.width)) {
    return fmt::format(
        "charts of more than {} rows, or of more than about 16 rows a pixel of width, are drawn on the CPU", kMaxRows);
  }
  if (spec.rows * spec.average > kMaxSums) return "moving averages of this length are drawn on the CPU";
  return "";
}

struct DeviceDrawer::State {
  State(const ChartSpec& spec, const Format& format, const Executor& executor, Accelerator& accelerator, Budget& budget,
        std::size_t at_once)
      : spec(spec),
        format(format),
        executor(executor),
        accelerator(accelerator),
        painters(this->spec, format),
        batch(this->spec, format, accelerator),
        together(at_once > 0 ? at_once : kCpuChartsPerThread * static_cast<std::size_t>(executor.threads())),
        reservation(budget.reserve_up_to({bytes_on_cpu(spec, format)}, together, "charts drawn on the CPU")) {}

  void draw(const SeriesArray& from, bool from_device, const ImageArray& to);
  Drawn on_device(std::uint64_t begin, std::uint64_t end);
  bool same(const Drawn& drawn);
  void by_cpu(std::uint64_t begin, std::uint64_t end);
  void by_cpu(std::span<const std::uint64_t> charts);
  // Releases the caller's arrays, after all operations on them have ended; calls that are `whole` have waited already.
  void let_go(bool whole);
  // Copy a chart's rows or its image from host or device memory, or its image to there.
  void read_rows(std::uint64_t chart, std::uint8_t* to);
  void read_image(std::uint64_t chart, std::span<std::uint8_t> to);
  void write_image(std::uint64_t chart, std::span<const std::uint8_t> from);

  std::uint64_t series_bytes() const { return series.bytes(spec); }
  // Draws these charts, whose rows are in host memory.
  void paint(const std::uint8_t* rows, std::span<const std::uint64_t> charts, std::uint8_t* out) const {
    const std::vector<double> ends = scale_ends_of(series, charts);
    painters.paint({rows, series.narrow, charts.size(), series.before, ends.empty() ? nullptr : ends.data()}, executor,
                   out);
  }

  const ChartSpec spec;
  const Format& format;
  const Executor& executor;
  Accelerator& accelerator;
  const SeriesPainters painters;
  BatchDrawer batch;
  // Number of charts that the CPU draws at once; their memory is reserved, as a later reservation could be refused.
  std::size_t together;
  const Reservation reservation;
  ChartCounts counts;
  // Arguments of the current call.
  SeriesArray series;
  bool series_on_device = false;
  ImageArray images;
  DeviceBuffer<std::uint8_t> all_series, all_images;  // if they are on the device
};

DeviceDrawer::DeviceDrawer(const ChartSpec& spec, const Format& format, const Executor& executor,
                           Accelerator& accelerator, Budget& budget, std::size_t at_once)
    : state_(std::make_unique<State>(spec, format, executor, accelerator, budget, at_once)) {}
DeviceDrawer::~DeviceDrawer() = default;

void DeviceDrawer::draw(const SeriesArray& series, bool series_on_device, const ImageArray& images) {
  state_->draw(series, series_on_device, images);
}

const ChartCounts& DeviceDrawer::counts() const { return state_->counts; }

void DeviceDrawer::State::let_go(bool whole) {
  if (!whole) batch.end_queue();
  all_series.release();
  all_images.release();
  series = {};
  images = {};
}

void DeviceDrawer::State::draw(const SeriesArray& from, bool from_device, const ImageArray& to) {
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
  const std::string why = cpu_only_reason(spec);
  if (!why.empty()) accelerator.record_fallback(why);
  if (!accelerator.is_allowed(bodies::chart())) {
    accelerator.record_fallback("nobody has attested its kernels for this hardware, and nobody asked for it by name");
  }
  if (!why.empty() || !accelerator.prepare_kernels(bodies::chart(), kEntries, gives_known_answers)) {
    by_cpu(0, series.count);
    at_the_end.whole = true;
    return;
  }
  BatchedWork<Drawn> work;
  work.items = series.count;
  work.most = batch.max_charts((series_on_device ? 0 : series_bytes()) + (images.on_device ? 0 : format.image_bytes()));
  work.checked = work.most;
  work.sampled = true;
  work.cut = [&](std::uint64_t begin, std::uint64_t amount) {
    return std::min(work.items, begin + std::max<std::uint64_t>(1, amount));
  };
  work.on_device = [this](std::uint64_t begin, std::uint64_t end) { return on_device(begin, end); };
  // The CPU's charts are drawn during the comparison: see same().
  work.on_cpu = [](std::uint64_t begin, std::uint64_t end) { return Drawn{begin, end, {}}; };
  work.same = [this](Drawn& drawn, Drawn&) { return same(drawn); };
  work.keep = [this](const Drawn& drawn) {
    counts.by_device += drawn.end - drawn.begin - drawn.given_up.size();
    if (drawn.given_up.empty()) return;
    accelerator.record_fallback(kGivenUpReason);
    by_cpu(drawn.given_up);
  };
  work.keep_by_cpu = [this](std::uint64_t begin, std::uint64_t end) { by_cpu(begin, end); };
  work.weight = [](const Drawn&) { return std::uint64_t{1}; };
  run_batches(accelerator, work);
  at_the_end.whole = true;
}

Drawn DeviceDrawer::State::on_device(std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t charts = end - begin, image = format.image_bytes();
  const bool aligned = !images.on_device || reinterpret_cast<std::uintptr_t>(images.data) % 4 == 0;
  Drawn drawn{begin, end, batch.draw(series, begin, end, all_series, all_images, aligned)};
  if (!images.on_device) {
    auto* to = static_cast<std::uint8_t*>(images.data);
    batch.queue().download(batch.images(), std::span(to + begin * image, charts * image));
  }
  return drawn;
}

void DeviceDrawer::State::read_rows(std::uint64_t chart, std::uint8_t* to) {
  const std::uint64_t each = series_bytes();
  if (!series_on_device) {
    std::memcpy(to, static_cast<const std::uint8_t*>(series.data) + chart * each, each);
    return;
  }
  batch.queue().download(all_series, std::span(to, each), chart * each);
}

void DeviceDrawer::State::read_image(std::uint64_t chart, std::span<std::uint8_t> to) {
  if (images.on_device) {
    batch.queue().download(all_images, to, chart * to.size());
  } else {
    std::memcpy(to.data(), static_cast<const std::uint8_t*>(images.data) + chart * to.size(), to.size());
  }
}

void DeviceDrawer::State::write_image(std::uint64_t chart, std::span<const std::uint8_t> from) {
  if (images.on_device) {
    batch.queue().upload(from, all_images, chart * from.size());
  } else {
    std::memcpy(static_cast<std::uint8_t*>(images.data) + chart * from.size(), from.data(), from.size());
  }
}

bool DeviceDrawer::State::same(const Drawn& drawn) {
  const std::uint64_t image = format.image_bytes(), each = series_bytes();
  const std::vector<std::uint64_t> asked =
      select_compared_charts(drawn.begin, drawn.end, drawn.given_up, accelerator.options().verify);
  counts.compared += asked.size();
  const std::size_t step = std::min(asked.size(), together);
  std::vector<std::uint8_t> rows(step * each), truth(step * image), found(step * image);
  for (std::size_t from = 0; from < asked.size(); from += std::max<std::size_t>(step, 1)) {
    const std::size_t count = std::min(step, asked.size() - from);
    for (std::size_t i = 0; i < count; ++i) {
      read_rows(asked[from + i], rows.data() + i * each);
      read_image(asked[from + i], std::span(found).subspan(i * image, image));
    }
    paint(rows.data(), std::span(asked).subspan(from, count), truth.data());
    if (std::memcmp(truth.data(), found.data(), count * image) != 0) return false;
  }
  return true;
}

void DeviceDrawer::State::by_cpu(std::uint64_t begin, std::uint64_t end) {
  if (!series_on_device && !images.on_device) {
    counts.by_cpu += end - begin;
    painters.paint(series.part(spec, begin, end), executor,
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
  const std::size_t step = std::min(charts.size(), together);
  std::vector<std::uint8_t> rows(step * each), out(step * image);
  for (std::size_t from = 0; from < charts.size(); from += step) {
    const std::size_t count = std::min(step, charts.size() - from);
    for (std::size_t i = 0; i < count; ++i) read_rows(charts[from + i], rows.data() + i * each);
    paint(rows.data(), charts.subspan(from, count), out.data());
    for (std::size_t i = 0; i < count; ++i) {
      write_image(charts[from + i], std::span(out).subspan(i * image, image));
    }
  }
}

}  // namespace millrace::chart
