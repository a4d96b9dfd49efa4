#include "src/jobs/render/run.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/log.h"
#include "src/base/text.h"
#include "src/jobs/render/encode.h"
#include "src/jobs/render/shards.h"
#include "src/pipeline/chain.h"
#include "src/pipeline/pool.h"

namespace millrace::render {
namespace {

// Charts that go through the pipeline together: enough to make its own cost small, few enough to share work evenly; and
// no more than this of their pixels.
constexpr std::uint64_t kTogether = 32, kTogetherBytes = 8 << 20;

// And all that are in flight.
constexpr Bytes kMostInFlight = 256_MiB;

std::uint64_t together(const Encoding& encoding) {
  return std::clamp<std::uint64_t>(kTogetherBytes / encoding.most_bytes(), 1, kTogether);
}

struct Range {
  std::uint64_t begin, end;
};

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

class Drawing {
 public:
  Drawing(const Plan& plan, const Options& options, RunContext& context)
      : plan_(plan),
        options_(options),
        context_(context),
        encoding_(plan, options),
        together_(together(encoding_)),
        desks_([this] { return std::make_unique<Desk>(plan_, options_, encoding_.make()); }),
        blocks_([] { return std::make_unique<ChartBlock>(); }),
        paid_(context.budget.reserve(
            Bytes{pen_memory(options)} * static_cast<std::uint64_t>(context.executor.threads()), "drawing")) {}

  // Draws the charts of a range into a shard.
  void fill(ChartSink& sink, Range range, Progress& progress) {
    std::uint64_t next = range.begin;
    auto stages =
        chain::source<Range>("windows",
                             [&]() -> std::optional<Range> {
                               if (next == range.end) return std::nullopt;
                               const std::uint64_t begin = next;
                               next = std::min(range.end, begin + together_);
                               return Range{begin, next};
                             }) |
        chain::parallel<Range, std::shared_ptr<ChartBlock>>(
            "draw and encode", [&](Range part, Span&) { return draw(part); }, "more threads") |
        chain::sink<std::shared_ptr<ChartBlock>>("write", [&](const std::shared_ptr<ChartBlock>& block, Span& span) {
          sink.append(*block);
          span.stage().add_bytes(block->images.size());
          progress.add(block->count(), block->images.size());
        });
    // More in flight would be no faster, and large pictures would fill whatever the budget allows.
    chain::run(stages, context_, Bytes{together_ * encoding_.most_bytes()}, kMostInFlight);
    context_.throw_if_cancelled();
  }

 private:
  // What drawing takes, for one thread.
  struct Desk {
    Desk(const Plan& plan, const Options& options, std::unique_ptr<Encoder> encodes)
        : artist(plan, options), encoder(std::move(encodes)) {}
    Artist artist;
    std::unique_ptr<Encoder> encoder;
  };

  std::shared_ptr<ChartBlock> draw(Range part) {
    const std::shared_ptr<Desk> desk = desks_.take();
    std::shared_ptr<ChartBlock> block = blocks_.take();
    block->clear();
    const std::size_t values = plan_.window * plan_.layout.columns, horizons = options_.horizons.size();
    for (std::uint64_t chart = part.begin; chart < part.end; ++chart) {
      const ink::Picture& picture = desk->artist.draw(chart);
      desk->artist.append_sequence(block->sequences);
      append_facts(plan_, options_, chart, *block);
      const std::size_t before = block->images.size();
      const ChartFacts facts{chart, std::span(block->sequences).last(values), std::span(block->labels).last(horizons),
                             &block->places.back()};
      desk->encoder->append(picture, facts, block->images);
      block->image_bytes.push_back(static_cast<std::uint32_t>(block->images.size() - before));
    }
    return block;
  }

  const Plan& plan_;
  const Options& options_;
  RunContext& context_;
  const Encoding encoding_;
  const std::uint64_t together_;
  Pool<Desk> desks_;
  Pool<ChartBlock> blocks_;
  Reservation paid_;
};

}  // namespace

Summary summary_of(const Plan& plan, const Options& options) {
  Summary out;
  out.charts = plan.charts;
  out.gaps = plan.gaps();
  out.repeats = plan.repeats();
  out.series = plan.series(options);
  out.unusable = plan.unusable;
  return out;
}

Summary run(const Options& options, RunContext& context) {
  const auto begin = Clock::now();
  const Plan plan = make_plan(options, context);
  Summary summary = summary_of(plan, options);
  Shards shards(plan, options);
  if (!shards.finished()) {
    Drawing drawing(plan, options, context);
    Progress progress(context.progress, "drawing", plan.charts);
    const Cut& cut = shards.cut();
    for (std::uint64_t k = 0; k < cut.count(); ++k) {
      const Range range{cut.begin(k), cut.end(k)};
      if (shards.take(k)) {
        progress.add(range.end - range.begin, 0);
        continue;
      }
      shards.write(k, [&](ChartSink& sink) {
        drawing.fill(sink, range, progress);
        throw_if_changed(plan.sources);
      });
      spdlog::info("shard {} of {}: charts {} to {}", k + 1, cut.count(), range.begin, range.end - 1);
      summary.drawn += range.end - range.begin;
    }
    shards.settle();
    summary.drawing_seconds = since(begin);
    const auto joining = Clock::now();
    shards.assemble(context.cancel);
    summary.joining_seconds = since(joining);
    const auto syncing = Clock::now();
    shards.finish();
    summary.syncing_seconds = since(syncing);
  }
  summary.bytes = shards.output_bytes();
  summary.seconds = since(begin);
  return summary;
}

millrace::Plan what_it_takes(const Options& options, RunContext& context) {
  const Plan plan = make_plan(options, context);
  const Encoding encoding(plan, options);
  const std::unique_ptr<Encoder> encoder = encoding.make();
  Artist artist(plan, options);
  const std::uint64_t count = std::min<std::uint64_t>(plan.charts, 64);
  std::uint64_t bytes = 0;
  ChartBlock block;
  const auto begin = Clock::now();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t chart = i * plan.charts / count;
    block.clear();
    const ink::Picture& picture = artist.draw(chart);
    artist.append_sequence(block.sequences);
    append_facts(plan, options, chart, block);
    encoder->append(picture, {chart, block.sequences, block.labels, &block.places.back()}, block.images);
    bytes += block.images.size();
  }
  const double seconds = since(begin) / static_cast<double>(count);
  const auto charts = static_cast<double>(plan.charts);
  const Cut cut{plan.charts, static_cast<std::uint64_t>(options.shard)};
  const Bytes item{together(encoding) * encoding.most_bytes()};
  const auto all_bytes = static_cast<std::uint64_t>(charts * static_cast<double>(bytes) / static_cast<double>(count));
  const std::uint64_t tokens = chain::tokens_for(context, item, kMostInFlight);
  millrace::Plan out;
  out.lines = {
      {"charts", fmt::format("{} of {} x {} pixels, windows of {} rows from {} inputs ({} rows without a price)",
                             grouped(plan.charts), options.width, options.height, plan.window, plan.sources.size(),
                             grouped(plan.gaps()))},
      {"shards", fmt::format("{} of {} charts", grouped(cut.count()), grouped(cut.each))},
      {"output", fmt::format("about {} ({} a chart)", to_text(Bytes{all_bytes}), to_text(Bytes{bytes / count}))}};
  out.figures = {{"charts", plan.charts},         {"width", options.width},
                 {"height", options.height},      {"window", plan.window},
                 {"series", plan.sources.size()}, {"gaps", plan.gaps()},
                 {"shards", cut.count()},         {"shard", cut.each},
                 {"output_bytes", all_bytes},     {"batch", together(encoding)}};
  out.threads = context.executor.threads();
  out.in_flight = tokens;
  out.memory = {{"the program itself", 16_MiB},
                {"inputs", context.budget.peak()},
                {"drawing", Bytes{pen_memory(options)} * static_cast<std::uint64_t>(context.executor.threads())},
                {"charts in flight", item * tokens}};
  out.allowed = context.budget.limit();
  out.seconds = charts * seconds / context.executor.threads();
  out.seconds_of = "drawing";
  return out;
}

}  // namespace millrace::render
