#include "src/jobs/latents/measure.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "src/device/accelerator.h"
#include "src/jobs/latents/measure_device.h"
#include "src/jobs/latents/measure_parts.h"
#include "src/memory/pool.h"
#include "src/pipeline/chain.h"

namespace millrace::latents {
namespace {

// Readers, analyzer and buffers of one thread. Videos may have different numbers of frames; the analyzer of the last
// number is kept.
class ThreadScratch {
 public:
  ThreadScratch(const Options& options, const LatentSet& set, const Normalization& normalization)
      : options_(options),
        set_(set),
        rows_(options, set),
        readers_{LatentReader(normalization), LatentReader(normalization), LatentReader(normalization)},
        first_(normalization) {}

  // Measures consecutive latents [begin, end) of one video.
  void measure(std::uint64_t begin, std::uint64_t end, RowBlock& block) {
    const bool trajectory = options_.chosen.trajectory;
    if (!analyzer_ || !(shape_ == set_.files[begin].shape)) {
      drop_analyzer();
      analyzer_ = std::make_unique<Analyzer>(set_.files[begin].shape, options_.chosen.metrics);
      shape_ = set_.files[begin].shape;
    }
    // The first latent to read: trajectories need up to two latents before `begin`.
    const std::uint64_t first = trajectory ? first_compared(set_, begin) : begin;
    std::optional<ArrayView> before, earlier;
    for (std::uint64_t row = first; row < end; ++row) {
      const ArrayView now = read(readers_[row % readers_.size()], row);
      if (row >= begin) {
        analyzer_->measure(now, measures_);
        Step step;
        double end_to_end = Measures::kAbsent;
        if (trajectory && before) {
          {
            const TimedScope timed(seconds_.trajectories);
            step = step_between(now, *before, earlier ? &*earlier : nullptr);
          }
          if (is_last_of_video(set_, row)) end_to_end = from_start(now, row);
        }
        rows_.append(set_.files[row], measures_, step, end_to_end, block);
      }
      earlier = before;
      before = now;
    }
  }

  MeasuringSeconds seconds() {
    drop_analyzer();
    return seconds_;
  }

  static Bytes bytes(const Options& options, const LatentSet& set) {
    // More frames need more memory to measure, but a file of another format may need more to read.
    return {Analyzer::bytes(set.most_shape()) + (kReaders + 1) * reading_memory(set, options.normalize)};
  }

 private:
  static constexpr std::size_t kReaders = 3;

  ArrayView read(LatentReader& reader, std::uint64_t row) {
    const TimedScope timed(seconds_.reading);
    return reader.read(set_.files[row]);
  }

  // Returns the distance of a video's last latent from its first.
  double from_start(const ArrayView& last, std::uint64_t row) {
    const ArrayView start = read(first_, first_of_video(set_, row));
    const TimedScope timed(seconds_.trajectories);
    return step_between(last, start, nullptr).distance;
  }

  void drop_analyzer() {
    if (!analyzer_) return;
    MeasuringSeconds own;
    own.parts = analyzer_->seconds();
    seconds_.add(own);
    analyzer_.reset();
  }

  const Options& options_;
  const LatentSet& set_;
  const RowWriter rows_;
  std::array<LatentReader, kReaders> readers_;
  LatentReader first_;
  Shape shape_;
  std::unique_ptr<Analyzer> analyzer_;
  Measures measures_;
  MeasuringSeconds seconds_;
};

class MeasureStage {
 public:
  MeasureStage(const Options& options, const LatentSet& set, const Normalization& normalization,
               const DatasetSpec& dataset, Checkpoint& checkpoint, RunContext& context)
      : set_(set),
        context_(context),
        rows_(checkpoint),
        out_(set, checkpoint, context),
        arrays_(dataset.arrays.size()),
        row_bytes_(row_bytes(dataset)),
        scratch_([&] { return std::make_unique<ThreadScratch>(options, set, normalization); }),
        blocks_([] { return std::make_unique<RowBlock>(); }),
        paid_(context.budget.reserve(
            ThreadScratch::bytes(options, set) * static_cast<std::uint64_t>(context.executor.threads()), "measuring")) {
  }

  Measured run() {
    Measured out;
    const auto together = [this](const PartRow& first, const PartRow& next) { return of_one_video(set_, first, next); };
    using Items = chain::Batch<PartRow>;
    const auto stages =
        chain::source<PartRow>("latents", [this] { return rows_.next(); }) |
        chain::batch<PartRow>(kTogether, together) |
        chain::parallel<Items, MeasuredRows>(
            "measure", [this](const Items& items, Span& span) { return measure(items, span); }, "more threads") |
        chain::sink<MeasuredRows>("write", [this](const MeasuredRows& item, Span&) { out_.write(item); });
    chain::run(stages, context_, chain::Price::fixed({kTogether * row_bytes_}));
    context_.throw_if_cancelled();
    out.latents = out_.written();
    scratch_.each([&](ThreadScratch& scratch) { out.seconds.add(scratch.seconds()); });
    return out;
  }

 private:
  MeasuredRows measure(const chain::Batch<PartRow>& items, Span& span) {
    MeasuredRows out{items.front().task, items.back().row + 1, nullptr};
    if (out.task.taken) return out;
    const std::shared_ptr<ThreadScratch> scratch = scratch_.take();
    out.block = blocks_.take();
    out.block->clear(arrays_);
    scratch->measure(items.front().row, out.end, *out.block);
    span.stage().add_bytes(items.size() * set_.files[items.front().row].bytes());
    return out;
  }

  const LatentSet& set_;
  RunContext& context_;
  PartRows rows_;
  PartWriter out_;
  const std::size_t arrays_;
  const std::uint64_t row_bytes_;
  Pool<ThreadScratch> scratch_;
  Pool<RowBlock> blocks_;
  Reservation paid_;
};

}  // namespace

void MeasuringSeconds::add(const MeasuringSeconds& other) {
  reading += other.reading;
  trajectories += other.trajectories;
  for (std::size_t k = 0; k < parts.size(); ++k) parts[k] += other.parts[k];
}

Measured measure_missing(const Options& options, const LatentSet& set, const Normalization& normalization,
                         const DatasetSpec& dataset, Checkpoint& checkpoint, RunContext& context) {
  if (const auto route = route_of(options, set, context)) {
    if (route->on_device) return measure_on_device(options, set, normalization, dataset, checkpoint, context);
    context.accelerator->leave(route->why);
  }
  return MeasureStage(options, set, normalization, dataset, checkpoint, context).run();
}

MeasuringMemory measuring_memory(const Options& options, const LatentSet& set, const DatasetSpec& dataset,
                                 const RunContext& context) {
  if (const auto route = route_of(options, set, context); route && route->on_device)
    return device_measuring_memory(options, set, context);
  const Bytes row{row_bytes(dataset)};
  return {ThreadScratch::bytes(options, set) * static_cast<std::uint64_t>(context.executor.threads()), row,
          row * kTogether, chain::kNoLimit};
}

}  // namespace millrace::latents
