#include "src/jobs/render/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "src/jobs/render/shards.h"
#include "src/pipeline/pool.h"

namespace millrace::render {
namespace {

// Charts that go through the pipeline together: enough to make its own cost small, few enough to share work evenly.
constexpr std::uint64_t kTogether = 32;

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
        code_(make_code(plan, options)),
        artists_([this] { return std::make_unique<Desk>(plan_, options_); }),
        blocks_([] { return std::make_unique<ChartBlock>(); }),
        paid_(context.budget.reserve_permanent(
            Bytes{pen_memory(options)} * static_cast<std::uint64_t>(context.executor.threads()), "drawing")) {}

  // Draws the charts of a range into a store.
  void fill(ChartStore& store, Range range, Progress& progress) {
    std::uint64_t next = range.begin;
    auto stages =
        chain::source<Range>("windows",
                             [&]() -> std::optional<Range> {
                               if (next == range.end) return std::nullopt;
                               const std::uint64_t begin = next;
                               next = std::min(range.end, begin + kTogether);
                               return Range{begin, next};
                             }) |
        chain::parallel<Range, std::shared_ptr<ChartBlock>>(
            "draw and compress", [&](Range part, Span&) { return draw(part); }, "more threads") |
        chain::sink<std::shared_ptr<ChartBlock>>("write", [&](const std::shared_ptr<ChartBlock>& block, Span& span) {
          store.append(*block);
          span.stage().add_bytes(block->chunks.size());
          progress.add(block->count(), block->chunks.size());
        });
    chain::run(stages, context_, block_bytes());
    context_.throw_if_cancelled();
  }

 private:
  // What drawing takes, for one thread.
  struct Desk {
    Desk(const Plan& plan, const Options& options) : artist(plan, options) {}
    Artist artist;
    Buffer<std::uint8_t> stream;
  };

  Bytes block_bytes() const {
    // A chart's stream is a tenth of its pixels where they are noise.
    const std::uint64_t pixels = std::uint64_t{plan_.layout.width} * plan_.layout.height;
    return {kTogether * (pixels / 8 + 4096 + 8 * plan_.window * plan_.layout.columns)};
  }

  std::shared_ptr<ChartBlock> draw(Range part) {
    const std::shared_ptr<Desk> desk = artists_.take();
    std::shared_ptr<ChartBlock> block = blocks_.take();
    block->clear();
    for (std::uint64_t chart = part.begin; chart < part.end; ++chart) {
      const ink::Picture& picture = desk->artist.draw(chart);
      const auto stream = code_.compress(picture, desk->stream);
      block->chunks.insert(block->chunks.end(), stream.begin(), stream.end());
      block->chunk_bytes.push_back(static_cast<std::uint32_t>(stream.size()));
      desk->artist.append_sequence(block->sequences);
      describe(chart, *block);
    }
    return block;
  }

  void describe(std::uint64_t chart, ChartBlock& block) const {
    const Plan::Place place = plan_.place(options_, chart);
    const Source& source = plan_.sources[place.source];
    block.places.push_back({static_cast<std::uint32_t>(place.source), place.row,
                            source.dates.empty() ? std::string() : source.dates[place.row]});
    const std::size_t last = place.row + plan_.window - 1;
    for (const std::int64_t horizon : options_.horizons) {
      const std::size_t then = last + static_cast<std::size_t>(horizon);
      float label = std::numeric_limits<float>::quiet_NaN();
      // Ready windows have no future.
      if (source.ready == 0 && then < source.rows) {
        std::array<double, 1> now{}, later{};
        source.columns[kClose].read(last, now);
        source.columns[kClose].read(then, later);
        // A return on nothing, or on less, is none.
        if (now[0] > 0) label = static_cast<float>(later[0] / now[0] - 1);
      }
      block.labels.push_back(label);
    }
  }

  const Plan& plan_;
  const Options& options_;
  RunContext& context_;
  const deflate::Code code_;
  Pool<Desk> artists_;
  Pool<ChartBlock> blocks_;
  Reservation paid_;
};

}  // namespace

Summary run(const Options& options, RunContext& context) {
  const auto begin = Clock::now();
  const Plan plan = make_plan(options, context);
  Summary summary;
  summary.charts = plan.charts;
  summary.gaps = plan.gaps();
  summary.unusable = plan.unusable;
  Shards shards(options.output, plan.layout, static_cast<std::uint64_t>(options.shard));
  if (!shards.finished()) {
    Drawing drawing(plan, options, context);
    Progress progress(context.progress, "drawing", plan.charts);
    for (std::uint64_t k = 0; k < shards.count(); ++k) {
      const auto ends = shards.range(k);
      const Range range{ends.first, ends.second};
      if (shards.has(k)) {
        progress.add(range.end - range.begin, 0);
        continue;
      }
      shards.write(k, [&](ChartStore& store) {
        drawing.fill(store, range, progress);
        for (const Source& source : plan.sources) source.throw_if_changed();
      });
      summary.drawn += range.end - range.begin;
    }
    shards.settle();
    summary.drawing_seconds = since(begin);
    const auto joining = Clock::now();
    shards.join(context.cancel);
    summary.joining_seconds = since(joining);
    const auto syncing = Clock::now();
    shards.finish();
    summary.syncing_seconds = since(syncing);
  }
  summary.bytes = shards.output_bytes();
  summary.seconds = since(begin);
  return summary;
}

}  // namespace millrace::render
