#include "src/jobs/render/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "src/base/log.h"
#include "src/base/stopwatch.h"
#include "src/base/text.h"
#include "src/jobs/render/draw/device_charts.h"
#include "src/jobs/render/encode/chart_encoder.h"
#include "src/memory/object_pool.h"
#include "src/pipeline/chain.h"
#include "src/pipeline/checkpoint/shard_rows.h"

namespace millrace::render {
namespace {

// Charts that go through the pipeline together. They are enough to make the pipeline's own cost small, and few enough
// to share work evenly. The second limit is for the bytes of their pixels.
constexpr std::uint64_t kMaxChartsPerBatch = 32, kMaxBatchBytes = 8 << 20;

// Limit for all charts in flight.
constexpr Bytes kMaxInFlight = 256_MiB;

std::uint64_t charts_per_batch(const ChartEncoding& encoding) {
  return std::clamp<std::uint64_t>(kMaxBatchBytes / encoding.max_bytes(), 1, kMaxChartsPerBatch);
}

// Makes rows of the dataset. For one thread.
class ChartRowEncoder {
 public:
  ChartRowEncoder(const ChartPlan& plan, const RenderOptions& options, const ChartEncoding& encoding)
      : encoder_(encoding.make()), rows_(plan.layout, options.store) {}

  // Appends a chart, from its image or from a body that was made of it already.
  template <typename Picture>
  void append(const Picture& picture, const ChartRow& row, RowBlock& block) {
    std::vector<std::uint8_t>& images = block.arrays.front().bytes;
    const std::size_t before = images.size();
    encoder_.append(picture, row, images);
    rows_.append(images.size() - before, row, block);
  }

 private:
  ChartEncoder encoder_;
  const ChartRowWriter rows_;
};

// Objects that one thread needs for drawing.
class ThreadScratch {
 public:
  ThreadScratch(const ChartPlan& plan, const RenderOptions& options, const ChartEncoding& encoding)
      : plan_(plan), options_(options), renderer_(plan, options), rows_(plan, options, encoding) {}

  // Appends a row of the dataset.
  void draw(std::uint64_t chart, RowBlock& block) {
    const rle::Image& picture = renderer_.draw(chart);
    renderer_.reader().sequence(row_.sequence);
    fill_row(plan_, options_, chart, row_);
    rows_.append(picture, row_, block);
  }

 private:
  const ChartPlan& plan_;
  const RenderOptions& options_;
  WindowRenderer renderer_;
  ChartRowEncoder rows_;
  ChartRow row_;
};

// Consecutive charts of one shard, after drawing.
struct RenderedBatch {
  Checkpoint::Task task;
  std::uint64_t end = 0;  // row after the last of them
  std::shared_ptr<RowBlock> block;
};

// Consecutive charts before that, if a device draws them: first as they were read, then with their bodies.
struct InFlightBatch {
  Checkpoint::Task task;
  std::uint64_t end = 0;
  std::shared_ptr<WindowBatch> windows{};
  std::shared_ptr<ChartBodies> bodies{};
};

class DrawStage {
 public:
  // Draws on the context's device if there are portions for it.
  DrawStage(const ChartPlan& plan, const RenderOptions& options, const ChartEncoding& encoding, RunContext& context,
            Checkpoint& checkpoint, const std::optional<DeviceBatchSizes>& portions)
      : plan_(plan),
        options_(options),
        encoding_(encoding),
        context_(context),
        checkpoint_(checkpoint),
        rows_(checkpoint),
        charts_per_batch_(charts_per_batch(encoding)),
        each_(encoding.max_bytes()),
        arrays_(make_dataset_spec(plan.layout, options.store).arrays.size()),
        scratch_([this] { return std::make_unique<ThreadScratch>(plan_, options_, encoding_); }),
        blocks_([] { return std::make_unique<RowBlock>(); }),
        readers_([this] { return std::make_unique<WindowReader>(plan_, options_); }),
        makers_([this] { return std::make_unique<ChartRowEncoder>(plan_, options_, encoding_); }),
        windows_([] { return std::make_unique<WindowBatch>(); }),
        bodies_([] { return std::make_unique<ChartBodies>(); }),
        reservation_(context.budget.reserve_all(
            style_workspace(options.spec()) * static_cast<std::uint64_t>(context.executor.threads()), "drawing")) {
    if (!portions) return;
    charts_per_batch_ = portions->charts_per_batch;
    each_ = portions->each;
    device_ = std::make_unique<DeviceChartEncoder>(options, plan, encoding, *portions, context);
  }

  // Draws all charts that are missing. Returns how many were drawn.
  std::uint64_t run(Progress& progress) {
    std::uint64_t drawn = 0;
    const auto price = [this](const ShardRow& chart) { return Bytes{chart.task.taken ? 0 : each_}; };
    const auto is_same_shard = [](const ShardRow& first, const ShardRow& next) {
      return first.task.part == next.task.part;
    };
    using Charts = chain::Batch<ShardRow>;
    auto charts = chain::source<ShardRow>(
                      "windows", [this] { return rows_.next(); }, price) |
                  chain::batch<ShardRow>(charts_per_batch_, is_same_shard);
    auto write = chain::sink<RenderedBatch>("write", [&](const RenderedBatch& done, Span& span) {
      const std::uint64_t bytes = done.block ? done.block->arrays.front().bytes.size() : 0;
      const std::uint64_t rows = this->write(done);
      drawn += rows;
      span.stage().add_bytes(bytes);
      progress.add(done.task.taken ? rows_of(done.task.part) : rows, bytes);
    });
    // More charts in flight would be no faster, and large images would fill whatever the budget allows.
    const chain::MemoryCost in_flight = chain::MemoryCost::per_item(kMaxInFlight);
    if (device_) {
      chain::run(std::move(charts) |
                     chain::parallel<Charts, InFlightBatch>(
                         "read", [this](const Charts& of, Span&) { return read(of); }, "more threads") |
                     chain::ordered<InFlightBatch, InFlightBatch>(
                         "draw and encode", [this](InFlightBatch of, Span&) { return on_device(std::move(of)); },
                         "a faster device") |
                     chain::parallel<InFlightBatch, RenderedBatch>(
                         "wrap", [this](const InFlightBatch& of, Span&) { return wrap(of); }, "more threads") |
                     std::move(write),
                 context_, in_flight);
    } else {
      chain::run(std::move(charts) |
                     chain::parallel<Charts, RenderedBatch>(
                         "draw and encode", [this](const Charts& of, Span&) { return draw(of); }, "more threads") |
                     std::move(write),
                 context_, in_flight);
    }
    context_.throw_if_cancelled();
    return drawn;
  }

 private:
  std::uint64_t rows_of(std::uint64_t part) const {
    return checkpoint_.parts().end(part) - checkpoint_.parts().begin(part);
  }

  RenderedBatch draw(const chain::Batch<ShardRow>& charts) {
    RenderedBatch out{charts.front().task, charts.back().row + 1, nullptr};
    if (out.task.taken) return out;
    const std::shared_ptr<ThreadScratch> scratch = scratch_.take();
    out.block = blocks_.take();
    out.block->clear(arrays_);
    for (const ShardRow& chart : charts) scratch->draw(chart.row, *out.block);
    return out;
  }

  InFlightBatch read(const chain::Batch<ShardRow>& charts) {
    InFlightBatch out{charts.front().task, charts.back().row + 1};
    if (out.task.taken) return out;
    const std::shared_ptr<WindowReader> reader = readers_.take();
    out.windows = windows_.take();
    out.windows->clear();
    for (const ShardRow& chart : charts) out.windows->add(plan_, options_, chart.row, *reader);
    return out;
  }

  InFlightBatch on_device(InFlightBatch charts) {
    if (charts.task.taken) return charts;
    charts.bodies = bodies_.take();
    device_->make(*charts.windows, *charts.bodies);
    return charts;
  }

  RenderedBatch wrap(const InFlightBatch& charts) {
    RenderedBatch out{charts.task, charts.end, nullptr};
    if (out.task.taken) return out;
    const std::shared_ptr<ChartRowEncoder> rows = makers_.take();
    out.block = blocks_.take();
    out.block->clear(arrays_);
    for (std::size_t i = 0; i < charts.windows->rows.size(); ++i) {
      rows->append(charts.bodies->of(i), charts.windows->rows[i], *out.block);
    }
    return out;
  }

  // Writes charts. Returns how many of them were drawn.
  std::uint64_t write(const RenderedBatch& charts) {
    const std::uint64_t k = charts.task.part;
    if (charts.task.taken) {
      checkpoint_.take(k);
      return 0;
    }
    checkpoint_.append(k, *charts.block);
    if (charts.end == checkpoint_.parts().end(k)) {
      throw_if_changed(plan_.sources);
      checkpoint_.end(k);
      spdlog::info("shard {} of {}: charts {} to {}", k + 1, checkpoint_.parts().count(), checkpoint_.parts().begin(k),
                   charts.end - 1);
    }
    return charts.block->rows;
  }

  const ChartPlan& plan_;
  const RenderOptions& options_;
  const ChartEncoding& encoding_;
  RunContext& context_;
  Checkpoint& checkpoint_;
  ShardRows rows_;
  std::uint64_t charts_per_batch_, each_;  // charts of a batch; bytes of a chart in flight
  const std::size_t arrays_;
  ObjectPool<ThreadScratch> scratch_;
  ObjectPool<RowBlock> blocks_;
  ObjectPool<WindowReader> readers_;
  ObjectPool<ChartRowEncoder> makers_;
  ObjectPool<WindowBatch> windows_;
  ObjectPool<ChartBodies> bodies_;
  ReservedWorkspace reservation_;
  std::unique_ptr<DeviceChartEncoder> device_;
};

// Measures the cost on up to 64 charts that are drawn for it, evenly spaced.
ChartCost measure_chart_cost(const ChartPlan& plan, const RenderOptions& options, const ChartEncoding& encoding) {
  const std::uint64_t count = std::min<std::uint64_t>(plan.charts, 64);
  const auto each = [&](const auto& work) {
    const Stopwatch watch;
    for (std::uint64_t i = 0; i < count; ++i) work(i * plan.charts / count);
    return watch.seconds() / static_cast<double>(count);
  };
  const std::size_t arrays = make_dataset_spec(plan.layout, options.store).arrays.size();
  RowBlock block;
  ChartCost out;
  ThreadScratch scratch(plan, options, encoding);
  out.seconds = each([&](std::uint64_t chart) {
    block.clear(arrays);
    scratch.draw(chart, block);
    out.bytes += block.arrays.front().bytes.size();
  });
  out.bytes /= count;
  // Work that a device leaves to the CPU: windows are read, and bodies are wrapped. Wrapping takes the same time for
  // any body, so one body is used for all.
  ChartRowEncoder rows(plan, options, encoding);
  WindowRenderer renderer(plan, options);
  std::vector<std::uint8_t> body;
  encoding.make_body_encoder()->append(renderer.draw(0), body);
  WindowReader reader(plan, options);
  WindowBatch windows;
  out.others_seconds = each([&](std::uint64_t chart) {
    windows.clear();
    windows.add(plan, options, chart, reader);
    block.clear(arrays);
    rows.append(std::span<const std::uint8_t>(body), windows.rows.front(), block);
  });
  return out;
}

// Number of charts that this run makes if none was made before it, and the number of their shards.
struct OwnCharts {
  std::uint64_t charts = 0, parts = 0;
};
OwnCharts count_own_charts(const ChartPlan& plan, const RenderOptions& options) {
  const ShardLayout parts{plan.charts, static_cast<std::uint64_t>(options.shard)};
  OwnCharts out;
  for (std::uint64_t k = 0; k < parts.count(); ++k) {
    if (!options.share.has_shard(k)) continue;
    out.charts += parts.end(k) - parts.begin(k);
    ++out.parts;
  }
  return out;
}

// Returns the portions for the device if it draws. If the user asked for the device, no time is measured.
std::optional<DeviceBatchSizes> choose_device_batches(const ChartPlan& plan, const RenderOptions& options,
                                                      const ChartEncoding& encoding, RunContext& context) {
  if (context.accelerator == nullptr) return std::nullopt;
  const ChartCost cost =
      context.accelerator->options().asked ? ChartCost() : measure_chart_cost(plan, options, encoding);
  const DeviceBatchSizes portions = choose_batch_sizes(options, plan, encoding, context, kMaxInFlight);
  const std::uint64_t charts = count_own_charts(plan, options).charts;
  const Route route = choose_route(options, plan, encoding, cost, charts, portions, context);
  if (route.on_device) return portions;
  context.accelerator->record_fallback(route.why);
  return std::nullopt;
}

CheckpointSpec make_checkpoint_spec(const ChartPlan& plan, const RenderOptions& options) {
  CheckpointSpec out;
  out.output = options.output;
  out.store = kind_of(options);
  out.dataset = make_dataset_spec(plan.layout, options.store);
  out.each = static_cast<std::uint64_t>(options.shard);
  out.mark = kMark;
  out.share = options.share;
  return out;
}

}  // namespace

RenderSummary make_summary(const ChartPlan& plan, const RenderOptions& options) {
  RenderSummary out;
  out.charts = plan.charts;
  out.gaps = plan.gaps();
  out.repeats = plan.repeats();
  out.series = plan.series(options);
  out.unusable = plan.unusable;
  return out;
}

RenderSummary run(const RenderOptions& options, RunContext& context) {
  const Stopwatch watch;
  const ChartPlan plan = make_plan(options, context);
  RenderSummary summary = make_summary(plan, options);
  CheckpointSpec spec = make_checkpoint_spec(plan, options);
  spec.check_cancelled = [&context] { context.throw_if_cancelled(); };
  Checkpoint checkpoint(std::move(spec));
  if (!checkpoint.finished()) {
    Progress progress(context.progress, "drawing", plan.charts);
    const ChartEncoding encoding(plan, options);
    const std::optional<DeviceBatchSizes> portions = choose_device_batches(plan, options, encoding, context);
    summary.drawn = DrawStage(plan, options, encoding, context, checkpoint, portions).run(progress);
    checkpoint.wait();
    summary.drawing_seconds = watch.seconds();
    summary.published = checkpoint.publish([&] { context.throw_if_cancelled(); });
    summary.parts = checkpoint.parts().count();
    summary.missing = checkpoint.missing();
    summary.merge_seconds = checkpoint.merge_seconds();
    summary.sync_seconds = checkpoint.sync_seconds();
  }
  summary.bytes = checkpoint.output_bytes();
  summary.seconds = watch.seconds();
  return summary;
}

Plan estimate(const RenderOptions& options, RunContext& context) {
  const ChartPlan plan = make_plan(options, context);
  const ChartEncoding encoding(plan, options);
  const ChartCost cost = measure_chart_cost(plan, options, encoding);
  const ShardLayout parts{plan.charts, static_cast<std::uint64_t>(options.shard)};
  const auto [drawn, drawn_shards] = count_own_charts(plan, options);
  const std::uint64_t all_bytes = plan.charts * cost.bytes;
  std::uint64_t batch = charts_per_batch(encoding), each = encoding.max_bytes(), working = 0;
  std::optional<Route> route;
  if (context.accelerator != nullptr) {
    const DeviceBatchSizes portions = choose_batch_sizes(options, plan, encoding, context, kMaxInFlight);
    route = choose_route(options, plan, encoding, cost, drawn, portions, context);
    if (route->on_device) {
      batch = portions.charts_per_batch;
      each = portions.each;
      working = portions.working;
    }
  }
  const Bytes item{batch * each};
  const std::uint64_t tokens = chain::count_tokens(context, item, kMaxInFlight);
  Plan out;
  out.lines = {
      {"charts", fmt::format("{} of {} x {} pixels, windows of {} rows from {} series ({} rows without a price)",
                             group_digits(plan.charts), options.width, options.height, plan.window, plan.sources.size(),
                             group_digits(plan.gaps()))},
      {"shards", fmt::format("{} of {} charts", group_digits(parts.count()), group_digits(parts.each))},
      {"output",
       fmt::format("about {} ({} a chart)", format_bytes(Bytes{all_bytes}), format_bytes(Bytes{cost.bytes}))}};
  out.figures = {{"charts", plan.charts},   {"width", options.width},        {"height", options.height},
                 {"window", plan.window},   {"series", plan.sources.size()}, {"gaps", plan.gaps()},
                 {"shards", parts.count()}, {"shard", parts.each},           {"output_bytes", all_bytes},
                 {"batch", batch}};
  if (options.share) {
    out.lines.push_back({"this run", fmt::format("{} of {}: {} charts in {} shards", options.share.index + 1,
                                                 options.share.of, group_digits(drawn), group_digits(drawn_shards))});
    out.figures["part_charts"] = drawn;
    out.figures["part_shards"] = drawn_shards;
  }
  out.threads = context.executor.threads();
  out.in_flight = tokens;
  out.memory = {
      {"the program itself", 16_MiB},
      {"inputs", context.budget.peak()},
      {"drawing", (style_workspace(options.spec()) * static_cast<std::uint64_t>(context.executor.threads())).host +
                      Bytes{working}},
      {"charts in flight", item * tokens}};
  out.allowed = context.budget.limit();
  out.seconds = static_cast<double>(drawn) * cost.seconds / context.executor.threads();
  if (route) {
    out.lines.push_back({"device", route->why});
    out.figures["where"] = route->why;
    if (route->on_device) out.seconds = route->seconds();
  }
  out.timed_step = "drawing";
  return out;
}

}  // namespace millrace::render
