#include "src/kernels/chart/chart_streams.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "src/device/batches.h"
#include "src/kernels/chart/chart_batch.h"
#include "src/kernels/chart/chart_entries.h"
#include "src/kernels/chart/chart_test_vectors.h"
#include "src/kernels/rle_deflate/deflate_device.h"
#include "src/kernels/rle_deflate/deflate_entries.h"
#include "src/kernels/rle_deflate/deflate_test_vectors.h"
#include "src/memory/object_pool.h"

namespace millrace::chart {
namespace {

// A batch made by the device.
struct DrawnStreams {
  std::uint64_t begin = 0, end = 0;
  std::vector<std::uint64_t> given_up;  // charts that the CPU must make, in order
  std::shared_ptr<rle_deflate::EncodedStreams> streams;

  bool is_given_up(std::uint64_t chart) const { return std::binary_search(given_up.begin(), given_up.end(), chart); }
};

// Returns the format that kernels draw and compress: a byte per pixel, its level; for bits, the stored bytes.
Format format_of_levels(const ChartSpec& spec, const Format& format) {
  if (format.kind == PixelKind::bits) return format;
  rle::ColourTable levels;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    const auto level = static_cast<std::uint8_t>(k);
    levels[k] = {level, level, level};
  }
  return {spec, levels, 1, PixelKind::bytes};
}

}  // namespace

struct DeviceStreamer::State {
  State(const ChartSpec& of, const Format& wanted, const rle_deflate::DeflateCode& of_streams, const Executor& threads,
        Accelerator& device, Budget& memory, std::size_t at_once)
      : spec(of),
        levels(format_of_levels(of, wanted)),
        code(of_streams),
        executor(threads),
        accelerator(device),
        budget(memory),
        painters(spec, wanted),
        batch(spec, levels, device),
        encoder(code, static_cast<int>(levels.image[1]), spec.height,
                wanted.kind == PixelKind::bits ? wanted.pixels.level[0][0] : std::uint8_t{0}),
        together(at_once > 0 ? at_once : kCpuChartsPerThread * static_cast<std::size_t>(threads.threads())),
        reservation(
            memory.reserve_up_to({DeviceStreamer::bytes_on_cpu(of, wanted)}, together, "charts drawn on the CPU")) {}

  void draw(const SeriesArray& from, const StreamSink& keep);
  DrawnStreams on_device(std::uint64_t begin, std::uint64_t end);
  bool same(const DrawnStreams& drawn);
  // Makes the streams of these charts, in order.
  void by_cpu(std::span<const std::uint64_t> charts, const StreamSink& keep);

  const ChartSpec spec;
  const Format levels;
  const rle_deflate::DeflateCode& code;
  const Executor& executor;
  Accelerator& accelerator;
  Budget& budget;
  const SeriesPainters painters;
  BatchDrawer batch;
  rle_deflate::DeviceEncoder encoder;
  // Number of charts that the CPU makes at once; their memory is reserved, as a later reservation could be refused.
  std::size_t together;
  const Reservation reservation;
  ObjectPool<Buffer<std::uint8_t>> memories{
      [] { return std::make_unique<Buffer<std::uint8_t>>(); }};  // memory of streams
  ChartCounts counts;
  SeriesArray series;  // series of the current call
};

DeviceStreamer::DeviceStreamer(const ChartSpec& spec, const Format& format, const rle_deflate::DeflateCode& code,
                               const Executor& executor, Accelerator& accelerator, Budget& budget, std::size_t at_once)
    : state_(std::make_unique<State>(spec, format, code, executor, accelerator, budget, at_once)) {}
std::uint64_t DeviceStreamer::bytes_on_cpu(const ChartSpec& spec, const Format& format) {
  // The memory holds the series, and two copies of the stream.
  return max_rows_bytes(spec) + 2 * (format.image_bytes() / 8 + 4096);
}

DeviceStreamer::~DeviceStreamer() = default;

void DeviceStreamer::draw(const SeriesArray& series, const StreamSink& keep) { state_->draw(series, keep); }
const ChartCounts& DeviceStreamer::counts() const { return state_->counts; }

void DeviceStreamer::State::draw(const SeriesArray& from, const StreamSink& keep) {
  series = from;
  const auto keep_by_cpu = [&](std::uint64_t begin, std::uint64_t end) {
    std::vector<std::uint64_t> charts(end - begin);
    std::iota(charts.begin(), charts.end(), begin);
    counts.by_cpu += charts.size();
    by_cpu(charts, keep);
  };
  if (series.count == 0) return;
  const std::string why = cpu_only_reason(spec);
  if (!why.empty()) accelerator.record_fallback(why);
  if (!why.empty() || !accelerator.prepare_kernels(bodies::chart(), kEntries, gives_known_answers) ||
      !accelerator.prepare_kernels(bodies::deflate(), rle_deflate::kEntries, rle_deflate::gives_known_answers)) {
    return keep_by_cpu(0, series.count);
  }
  BatchedWork<DrawnStreams> work;
  work.items = series.count;
  work.most = batch.max_charts(series.bytes(spec) + levels.image_bytes() + encoder.bytes_each());
  work.checked = work.most;
  work.sampled = true;
  work.cut = [&](std::uint64_t begin, std::uint64_t amount) {
    return std::min(work.items, begin + std::max<std::uint64_t>(1, amount));
  };
  work.on_device = [this](std::uint64_t begin, std::uint64_t end) { return on_device(begin, end); };
  // The CPU's streams are made during the comparison: see same().
  work.on_cpu = [](std::uint64_t begin, std::uint64_t end) { return DrawnStreams{begin, end, {}, {}}; };
  work.same = [this](DrawnStreams& drawn, DrawnStreams&) { return same(drawn); };
  work.keep = [&](const DrawnStreams& drawn) {
    if (!drawn.given_up.empty()) accelerator.record_fallback(kGivenUpReason);
    counts.by_device += drawn.end - drawn.begin - drawn.given_up.size();
    counts.by_cpu += drawn.given_up.size();
    // The CPU's charts are made many at once, and delivered in their places.
    std::span<const std::uint64_t> left = drawn.given_up;
    std::vector<std::vector<std::uint8_t>> made;
    std::size_t next = 0;
    for (std::uint64_t chart = drawn.begin; chart < drawn.end; ++chart) {
      if (!drawn.is_given_up(chart)) {
        keep(drawn.streams->of(chart - drawn.begin));
        continue;
      }
      if (next == made.size()) {
        const auto some = left.first(std::min(left.size(), together));
        left = left.subspan(some.size());
        made.clear();
        next = 0;
        by_cpu(some, [&](std::span<const std::uint8_t> stream) { made.emplace_back(stream.begin(), stream.end()); });
      }
      keep(made[next++]);
    }
  };
  work.keep_by_cpu = keep_by_cpu;
  work.weight = [](const DrawnStreams&) { return std::uint64_t{1}; };
  run_batches(accelerator, work);
}

DrawnStreams DeviceStreamer::State::on_device(std::uint64_t begin, std::uint64_t end) {
  DrawnStreams out{begin, end, batch.draw(series, begin, end, {}, {}, true), nullptr};
  out.streams = std::make_shared<rle_deflate::EncodedStreams>(
      encoder.encode(accelerator, batch.queue(), batch.images(), 0, end - begin, budget));
  return out;
}

bool DeviceStreamer::State::same(const DrawnStreams& drawn) {
  const std::vector<std::uint64_t> asked =
      select_compared_charts(drawn.begin, drawn.end, drawn.given_up, accelerator.options().verify);
  counts.compared += asked.size();
  bool same = true;
  auto next = asked.begin();
  by_cpu(asked, [&](std::span<const std::uint8_t> truth) {
    const std::span<const std::uint8_t> found = drawn.streams->of(*next++ - drawn.begin);
    same = same && std::equal(truth.begin(), truth.end(), found.begin(), found.end());
  });
  return same;
}

void DeviceStreamer::State::by_cpu(std::span<const std::uint64_t> charts, const StreamSink& keep) {
  const std::size_t each = series.bytes(spec), step = std::min(charts.size(), together);
  std::vector<std::uint8_t> rows(step * each);
  std::vector<std::vector<std::uint8_t>> streams(step);
  for (std::size_t from = 0; from < charts.size(); from += step) {
    const std::size_t count = std::min(step, charts.size() - from);
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(rows.data() + i * each, static_cast<const std::uint8_t*>(series.data) + charts[from + i] * each,
                  each);
    }
    const std::vector<double> ends = scale_ends_of(series, charts.subspan(from, count));
    painters.each({rows.data(), series.narrow, count, series.before, ends.empty() ? nullptr : ends.data()}, executor,
                  [&](std::size_t i, const rle::Image& picture) {
                    const auto memory = memories.take();
                    const auto stream = code.compress(picture, *memory);
                    streams[i].assign(stream.begin(), stream.end());
                  });
    for (std::size_t i = 0; i < count; ++i) keep(streams[i]);
  }
}

}  // namespace millrace::chart
