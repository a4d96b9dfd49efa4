#include "src/jobs/latents/measure.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "src/device/accelerator.h"
#include "src/jobs/latents/measure_common.h"
#include "src/jobs/latents/measure_device.h"
#include "src/memory/object_pool.h"
#include "src/pipeline/chain.h"

namespace millrace::latents {
namespace {

// Readers, analyzer and buffers of one thread. Videos may have different numbers of frames; the analyzer of the last
// number is kept.
class ThreadScratch {
 public:
  ThreadScratch(const LatentsJobOptions& options, const LatentSet& set, const Normalization& normalization)
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
    const std::uint64_t first = trajectory ? find_first_needed_row(set_, begin) : begin;
    std::optional<ArrayView> before, two_before;
    for (std::uint64_t row = first; row < end; ++row) {
      const ArrayView now = read(readers_[row % readers_.size()], row);
      if (row >= begin) {
        analyzer_->measure(now, measures_);
        Step step;
        double end_to_end = Measures::kAbsent;
        if (trajectory && before) {
          {
            const TimedScope timed(seconds_.trajectories);
            step = measure_step(now, *before, two_before ? &*two_before : nullptr);
          }
          if (is_last_of_video(set_, row)) end_to_end = measure_end_to_end(now, row);
        }
        rows_.append(set_.files[row], measures_, step, end_to_end, block);
      }
      two_before = before;
      before = now;
    }
  }

  MeasuringSeconds seconds() {
    drop_analyzer();
    return seconds_;
  }

  static Bytes bytes(const LatentsJobOptions& options, const LatentSet& set) {
    // More frames need more memory to measure, but a file of another format may need more to read.
    return {Analyzer::bytes(set.max_shape()) + (kReaders + 1) * estimate_reading_memory(set, options.normalize)};
  }

 private:
  static constexpr std::size_t kReaders = 3;

  ArrayView read(LatentReader& reader, std::uint64_t row) {
    const TimedScope timed(seconds_.reading);
    return reader.read(set_.files[row]);
  }

  // Returns the distance of a video's last latent from its first.
  double measure_end_to_end(const ArrayView& last, std::uint64_t row) {
    const ArrayView start = read(first_, find_first_of_video(set_, row));
    const TimedScope timed(seconds_.trajectories);
    return measure_step(last, start, nullptr).distance;
  }

  void drop_analyzer() {
    if (!analyzer_) return;
    MeasuringSeconds own;
    own.parts = analyzer_->seconds();
    seconds_.add(own);
    analyzer_.reset();
  }

  const LatentsJobOptions& options_;
  const LatentSet& set_;
  const LatentRowWriter rows_;
  std::array<LatentReader, kReaders> readers_;
  LatentReader first_;
  LatentShape shape_;
  std::unique_ptr<Analyzer> analyzer_;
  Measures measures_;
  MeasuringSeconds seconds_;
};

class MeasureStage {
 public:
  MeasureStage(const LatentsJobOptions& options, const LatentSet& set, const Normalization& normalization,
               const DatasetSpec& dataset, Checkpoint& checkpoint, RunContext& context)
      : set_(set),
        context_(context),
        rows_(checkpoint),
        out_(set, checkpoint, context),
        arrays_(dataset.arrays.size()),
        row_bytes_(row_bytes(dataset)),
        scratch_([&] { return std::make_unique<ThreadScratch>(options, set, normalization); }),
        blocks_([] { return std::make_unique<RowBlock>(); }),
        reservation_(context.budget.reserve(
            ThreadScratch::bytes(options, set) * static_cast<std::uint64_t>(context.executor.threads()), "measuring")) {
  }

  MeasuringResult run() {
    MeasuringResult out;
    const auto together = [this](const ShardRow& first, const ShardRow& next) {
      return can_measure_together(set_, first, next);
    };
    using Items = chain::Batch<ShardRow>;
    const auto stages =
        chain::source<ShardRow>("latents", [this] { return rows_.next(); }) |
        chain::batch<ShardRow>(kLatentsPerItem, together) |
        chain::parallel<Items, MeasuredRows>(
            "measure", [this](const Items& items, Span& span) { return measure(items, span); }, "more threads") |
        chain::sink<MeasuredRows>("write", [this](const MeasuredRows& item, Span&) { out_.write(item); });
    chain::run(stages, context_, chain::MemoryCost::fixed({kLatentsPerItem * row_bytes_}));
    context_.throw_if_cancelled();
    out.latents = out_.written();
    scratch_.each([&](ThreadScratch& scratch) { out.seconds.add(scratch.seconds()); });
    return out;
  }

 private:
  MeasuredRows measure(const chain::Batch<ShardRow>& items, Span& span) {
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
  ShardRows rows_;
  LatentShardWriter out_;
  const std::size_t arrays_;
  const std::uint64_t row_bytes_;
  ObjectPool<ThreadScratch> scratch_;
  ObjectPool<RowBlock> blocks_;
  Reservation reservation_;
};

}  // namespace

void MeasuringSeconds::add(const MeasuringSeconds& other) {
  reading += other.reading;
  trajectories += other.trajectories;
  for (std::size_t k = 0; k < parts.size(); ++k) parts[k] += other.parts[k];
}

MeasuringResult measure_missing_rows(const LatentsJobOptions& options, const LatentSet& set,
                                     const Normalization& normalization, const DatasetSpec& dataset,
                                     Checkpoint& checkpoint, RunContext& context) {
  if (const auto route = choose_route(options, set, context)) {
    if (route->on_device) return measure_on_device(options, set, normalization, dataset, checkpoint, context);
    context.accelerator->record_fallback(route->why);
  }
  return MeasureStage(options, set, normalization, dataset, checkpoint, context).run();
}

MeasuringMemory estimate_measuring_memory(const LatentsJobOptions& options, const LatentSet& set,
                                          const DatasetSpec& dataset, const RunContext& context) {
  if (const auto route = choose_route(options, set, context); route && route->on_device)
    return estimate_device_memory(options, set, context);
  const Bytes row{row_bytes(dataset)};
  return {ThreadScratch::bytes(options, set) * static_cast<std::uint64_t>(context.executor.threads()), row,
          row * kLatentsPerItem, chain::kNoLimit};
}

}  // namespace millrace::latents
