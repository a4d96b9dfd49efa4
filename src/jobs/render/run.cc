#include "src/jobs/render/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "src/base/log.h"
#include "src/base/stopwatch.h"
#include "src/base/text.h"
#include "src/jobs/render/draw/device_charts.h"
#include "src/jobs/render/encode/encode.h"
#include "src/memory/pool.h"
#include "src/pipeline/chain.h"
#include "src/pipeline/checkpoint/part_rows.h"

namespace millrace::render {
namespace {

// Charts that go through the pipeline together. They are enough to make the pipeline's own cost small, and few enough
// to share work evenly. The second limit is for the bytes of their pixels.
constexpr std::uint64_t kTogether = 32, kTogetherBytes = 8 << 20;

// Limit for all charts in flight.
constexpr Bytes kMostInFlight = 256_MiB;

std::uint64_t together(const Encoding& encoding) {
  return std::clamp<std::uint64_t>(kTogetherBytes / encoding.most_bytes(), 1, kTogether);
}

// Makes rows of the dataset. For one thread.
class RowMaker {
 public:
  RowMaker(const ChartPlan& plan, const Options& options, const Encoding& encoding)
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
  const RowWriter rows_;
};

// Objects that one thread needs for drawing.
class ThreadScratch {
 public:
  ThreadScratch(const ChartPlan& plan, const Options& options, const Encoding& encoding)
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
  const Options& options_;
  WindowRenderer renderer_;
  RowMaker rows_;
  ChartRow row_;
};

// Consecutive charts of one shard, after drawing.
struct Drawn {
  Checkpoint::Task task;
  std::uint64_t end = 0;  // row after the last of them
  std::shared_ptr<RowBlock> block;
};

// Consecutive charts before that, if a device draws them: first as they were read, then with their bodies.
struct OnTheWay {
  Checkpoint::Task task;
  std::uint64_t end = 0;
  std::shared_ptr<Windows> windows{};
  std::shared_ptr<Bodies> bodies{};
};

class DrawStage {
 public:
  // Draws on the context's device if there are portions for it.
  DrawStage(const ChartPlan& plan, const Options& options, const Encoding& encoding, RunContext& context,
            Checkpoint& checkpoint, const std::optional<DevicePortions>& portions)
      : plan_(plan),
        options_(options),
        encoding_(encoding),
        context_(context),
        checkpoint_(checkpoint),
        rows_(checkpoint),
        together_(together(encoding)),
        each_(encoding.most_bytes()),
        arrays_(dataset_of(plan.layout, options.store).arrays.size()),
        scratch_([this] { return std::make_unique<ThreadScratch>(plan_, options_, encoding_); }),
        blocks_([] { return std::make_unique<RowBlock>(); }),
        readers_([this] { return std::make_unique<WindowReader>(plan_, options_); }),
        makers_([this] { return std::make_unique<RowMaker>(plan_, options_, encoding_); }),
        windows_([] { return std::make_unique<Windows>(); }),
        bodies_([] { return std::make_unique<Bodies>(); }),
        paid_(context.budget.reserve_all(
            style_workspace(options.spec()) * static_cast<std::uint64_t>(context.executor.threads()), "drawing")) {
    if (!portions) return;
    together_ = portions->together;
    each_ = portions->each;
    device_ = std::make_unique<DeviceCharts>(options, plan, encoding, *portions, context);
  }

  // Draws all charts that are missing. Returns how many were drawn.
  std::uint64_t run(Progress& progress) {
    std::uint64_t drawn = 0;
    const auto price = [this](const PartRow& chart) { return Bytes{chart.task.taken ? 0 : each_}; };
    const auto of_one_part = [](const PartRow& first, const PartRow& next) {
      return first.task.part == next.task.part;
    };
    using Charts = chain::Batch<PartRow>;
    auto charts = chain::source<PartRow>(
                      "windows", [this] { return rows_.next(); }, price) |
                  chain::batch<PartRow>(together_, of_one_part);
    auto write = chain::sink<Drawn>("write", [&](const Drawn& done, Span& span) {
      const std::uint64_t bytes = done.block ? done.block->arrays.front().bytes.size() : 0;
      const std::uint64_t rows = this->write(done);
      drawn += rows;
      span.stage().add_bytes(bytes);
      progress.add(done.task.taken ? rows_of(done.task.part) : rows, bytes);
    });
    // More charts in flight would be no faster, and large images would fill whatever the budget allows.
    const chain::Price in_flight = chain::Price::by_item(kMostInFlight);
    if (device_) {
      chain::run(std::move(charts) |
                     chain::parallel<Charts, OnTheWay>(
                         "read", [this](const Charts& of, Span&) { return read(of); }, "more threads") |
                     chain::ordered<OnTheWay, OnTheWay>(
                         "draw and encode", [this](OnTheWay of, Span&) { return on_device(std::move(of)); },
                         "a faster device") |
                     chain::parallel<OnTheWay, Drawn>(
                         "wrap", [this](const OnTheWay& of, Span&) { return wrap(of); }, "more threads") |
                     std::move(write),
                 context_, in_flight);
    } else {
      chain::run(std::move(charts) |
                     chain::parallel<Charts, Drawn>(
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

  Drawn draw(const chain::Batch<PartRow>& charts) {
    Drawn out{charts.front().task, charts.back().row + 1, nullptr};
    if (out.task.taken) return out;
    const std::shared_ptr<ThreadScratch> scratch = scratch_.take();
    out.block = blocks_.take();
    out.block->clear(arrays_);
    for (const PartRow& chart : charts) scratch->draw(chart.row, *out.block);
    return out;
  }

  OnTheWay read(const chain::Batch<PartRow>& charts) {
    OnTheWay out{charts.front().task, charts.back().row + 1};
    if (out.task.taken) return out;
    const std::shared_ptr<WindowReader> reader = readers_.take();
    out.windows = windows_.take();
    out.windows->clear();
    for (const PartRow& chart : charts) out.windows->add(plan_, options_, chart.row, *reader);
    return out;
  }

  OnTheWay on_device(OnTheWay charts) {
    if (charts.task.taken) return charts;
    charts.bodies = bodies_.take();
    device_->make(*charts.windows, *charts.bodies);
    return charts;
  }

  Drawn wrap(const OnTheWay& charts) {
    Drawn out{charts.task, charts.end, nullptr};
    if (out.task.taken) return out;
    const std::shared_ptr<RowMaker> rows = makers_.take();
    out.block = blocks_.take();
    out.block->clear(arrays_);
    for (std::size_t i = 0; i < charts.windows->rows.size(); ++i) {
      rows->append(charts.bodies->of(i), charts.windows->rows[i], *out.block);
    }
    return out;
  }

  // Writes charts. Returns how many of them were drawn.
  std::uint64_t write(const Drawn& charts) {
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
  const Options& options_;
  const Encoding& encoding_;
  RunContext& context_;
  Checkpoint& checkpoint_;
  PartRows rows_;
  std::uint64_t together_, each_;  // charts of a batch; bytes of a chart in flight
  const std::size_t arrays_;
  Pool<ThreadScratch> scratch_;
  Pool<RowBlock> blocks_;
  Pool<WindowReader> readers_;
  Pool<RowMaker> makers_;
  Pool<Windows> windows_;
  Pool<Bodies> bodies_;
  ReservedWorkspace paid_;
  std::unique_ptr<DeviceCharts> device_;
};

// Measures the cost on up to 64 charts that are drawn for it, evenly spaced.
ChartCost cost_of(const ChartPlan& plan, const Options& options, const Encoding& encoding) {
  const std::uint64_t count = std::min<std::uint64_t>(plan.charts, 64);
  const auto each = [&](const auto& work) {
    const Stopwatch watch;
    for (std::uint64_t i = 0; i < count; ++i) work(i * plan.charts / count);
    return watch.seconds() / static_cast<double>(count);
  };
  const std::size_t arrays = dataset_of(plan.layout, options.store).arrays.size();
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
  RowMaker rows(plan, options, encoding);
  WindowRenderer renderer(plan, options);
  std::vector<std::uint8_t> body;
  encoding.make_body()->append(renderer.draw(0), body);
  WindowReader reader(plan, options);
  Windows windows;
  out.others_seconds = each([&](std::uint64_t chart) {
    windows.clear();
    windows.add(plan, options, chart, reader);
    block.clear(arrays);
    rows.append(std::span<const std::uint8_t>(body), windows.rows.front(), block);
  });
  return out;
}

// Number of charts that this run makes if none was made before it, and the number of their shards.
struct ShareOfCharts {
  std::uint64_t charts = 0, parts = 0;
};
ShareOfCharts share_of(const ChartPlan& plan, const Options& options) {
  const Parts parts{plan.charts, static_cast<std::uint64_t>(options.shard)};
  ShareOfCharts out;
  for (std::uint64_t k = 0; k < parts.count(); ++k) {
    if (!options.share.has(k)) continue;
    out.charts += parts.end(k) - parts.begin(k);
    ++out.parts;
  }
  return out;
}

// Returns the portions for the device if it draws. If the user asked for the device, no time is measured.
std::optional<DevicePortions> device_portions(const ChartPlan& plan, const Options& options, const Encoding& encoding,
                                              RunContext& context) {
  if (context.accelerator == nullptr) return std::nullopt;
  const ChartCost cost = context.accelerator->options().asked ? ChartCost() : cost_of(plan, options, encoding);
  const DevicePortions portions = portions_of(options, plan, encoding, context, kMostInFlight);
  const std::uint64_t charts = share_of(plan, options).charts;
  const Route route = route_of(options, plan, encoding, cost, charts, portions, context);
  if (route.on_device) return portions;
  context.accelerator->leave(route.why);
  return std::nullopt;
}

CheckpointSpec checkpoint_of(const ChartPlan& plan, const Options& options) {
  CheckpointSpec out;
  out.output = options.output;
  out.store = kind_of(options);
  out.dataset = dataset_of(plan.layout, options.store);
  out.each = static_cast<std::uint64_t>(options.shard);
  out.mark = kMark;
  out.share = options.share;
  return out;
}

}  // namespace

Summary summary_of(const ChartPlan& plan, const Options& options) {
  Summary out;
  out.charts = plan.charts;
  out.gaps = plan.gaps();
  out.repeats = plan.repeats();
  out.series = plan.series(options);
  out.unusable = plan.unusable;
  return out;
}

Summary run(const Options& options, RunContext& context) {
  const Stopwatch watch;
  const ChartPlan plan = make_plan(options, context);
  Summary summary = summary_of(plan, options);
  CheckpointSpec spec = checkpoint_of(plan, options);
  spec.go_on = [&context] { context.throw_if_cancelled(); };
  Checkpoint checkpoint(std::move(spec));
  if (!checkpoint.finished()) {
    Progress progress(context.progress, "drawing", plan.charts);
    const Encoding encoding(plan, options);
    const std::optional<DevicePortions> portions = device_portions(plan, options, encoding, context);
    summary.drawn = DrawStage(plan, options, encoding, context, checkpoint, portions).run(progress);
    checkpoint.wait();
    summary.drawing_seconds = watch.seconds();
    summary.published = checkpoint.publish([&] { context.throw_if_cancelled(); });
    summary.parts = checkpoint.parts().count();
    summary.missing = checkpoint.missing();
    summary.joining_seconds = checkpoint.joining_seconds();
    summary.syncing_seconds = checkpoint.syncing_seconds();
  }
  summary.bytes = checkpoint.output_bytes();
  summary.seconds = watch.seconds();
  return summary;
}

Plan what_it_takes(const Options& options, RunContext& context) {
  const ChartPlan plan = make_plan(options, context);
  const Encoding encoding(plan, options);
  const ChartCost cost = cost_of(plan, options, encoding);
  const Parts parts{plan.charts, static_cast<std::uint64_t>(options.shard)};
  const auto [drawn, drawn_parts] = share_of(plan, options);
  const std::uint64_t all_bytes = plan.charts * cost.bytes;
  std::uint64_t batch = together(encoding), each = encoding.most_bytes(), working = 0;
  std::optional<Route> route;
  if (context.accelerator != nullptr) {
    const DevicePortions portions = portions_of(options, plan, encoding, context, kMostInFlight);
    route = route_of(options, plan, encoding, cost, drawn, portions, context);
    if (route->on_device) {
      batch = portions.together;
      each = portions.each;
      working = portions.working;
    }
  }
  const Bytes item{batch * each};
  const std::uint64_t tokens = chain::tokens_for(context, item, kMostInFlight);
  Plan out;
  out.lines = {
      {"charts", fmt::format("{} of {} x {} pixels, windows of {} rows from {} inputs ({} rows without a price)",
                             grouped(plan.charts), options.width, options.height, plan.window, plan.sources.size(),
                             grouped(plan.gaps()))},
      {"shards", fmt::format("{} of {} charts", grouped(parts.count()), grouped(parts.each))},
      {"output", fmt::format("about {} ({} a chart)", to_text(Bytes{all_bytes}), to_text(Bytes{cost.bytes}))}};
  out.figures = {{"charts", plan.charts},   {"width", options.width},        {"height", options.height},
                 {"window", plan.window},   {"series", plan.sources.size()}, {"gaps", plan.gaps()},
                 {"shards", parts.count()}, {"shard", parts.each},           {"output_bytes", all_bytes},
                 {"batch", batch}};
  if (options.share) {
    out.lines.push_back({"part", fmt::format("{} of {}: {} charts in {} shards", options.share.index + 1,
                                             options.share.of, grouped(drawn), grouped(drawn_parts))});
    out.figures["part_charts"] = drawn;
    out.figures["part_shards"] = drawn_parts;
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
  out.seconds_of = "drawing";
  return out;
}

}  // namespace millrace::render
