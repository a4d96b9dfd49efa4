#include "src/jobs/latents/measure_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "src/base/mutex.h"
#include "src/jobs/latents/measure_common.h"
#include "src/kernels/latents/latents_device.h"
#include "src/kernels/latents/latents_entries.h"
#include "src/memory/object_pool.h"
#include "src/pipeline/chain.h"

namespace millrace::latents {
namespace {

// Elements that one thread measures per second, for all metrics: 1,628,160 in 1.42 ms on one core of the build machine.
constexpr double kElementsPerSecond = 1.15e9;
// Largest number of latents that go to the device at once, if the host has room: enough to keep it busy
// (latents_device.cc).
constexpr std::uint64_t kMaxGathered = 256;

std::uint64_t value_bytes(const LatentsJobOptions& options, const LatentFile& latent) {
  const bool halves = latent.tensor.type == kFloat16 && options.normalize == Normalize::none;
  return latent.shape.elements() * (halves ? 2 : 4);
}

std::uint64_t most_value_bytes(const LatentsJobOptions& options, const LatentSet& set) {
  std::uint64_t out = 1;
  for (const LatentFile& latent : set.files) out = std::max(out, value_bytes(options, latent));
  return out;
}

// Numbers of latents that are read together and gathered: fractions of what --memory allows.
struct GatherSizes {
  GatherSizes(const LatentsJobOptions& options, const LatentSet& set, const RunContext& context)
      : each(most_value_bytes(options, set)), row(row_bytes(make_dataset_spec(options, set))) {
    const std::uint64_t limit = context.budget.limit().count;
    together = std::clamp<std::uint64_t>(limit / 64 / each, 1, kLatentsPerItem);
    // Bytes per waiting latent: its share of the values that are read together, the two latents before them included.
    // After measuring, it is a row and the measures that the row is made from.
    waiting = (each * (together + 2) + together - 1) / together + 2 * row;
    const std::uint64_t measured = DeviceAnalyzer::host_bytes(set.max_shape(), options.chosen.metrics, 1, 0);
    gathered = std::clamp<std::uint64_t>(limit / 8 / (waiting + measured), 1, kMaxGathered);
  }
  // Bytes of an item in the pipeline: the latents that are read together, the two before them, and their rows.
  Bytes item_bytes() const { return {row * together + (together + 2) * each}; }
  static Bytes max_in_flight(const RunContext& context) { return {context.budget.limit().count / 4}; }

  std::uint64_t each, row, together, waiting, gathered;
};

// Consecutive latents of one video as they were read, with the steps between them.
struct ReadRows {
  Checkpoint::Task task;
  std::uint64_t begin = 0, end = 0;
  std::shared_ptr<Buffer<std::byte>> values;
  std::vector<ArrayView> views;  // values of each row
  std::vector<Step> steps;
  std::vector<double> ends;  // distance from the video's first latent, in its last row; else NaN
};

// Bytes of waiting latents, of which the last item may exceed the planned number, and of their readers.
Bytes estimate_gathered_memory(const LatentsJobOptions& options, const LatentSet& set, const RunContext& context) {
  const GatherSizes portions(options, set, context);
  return {(portions.gathered + portions.together) * portions.waiting +
          static_cast<std::uint64_t>(context.executor.threads()) * estimate_reading_memory(set, options.normalize)};
}

class DeviceStage {
 public:
  DeviceStage(const LatentsJobOptions& options, const LatentSet& set, const Normalization& normalization,
              const DatasetSpec& dataset, Checkpoint& checkpoint, RunContext& context)
      : options_(options),
        set_(set),
        context_(context),
        rows_(checkpoint),
        writer_(options, set),
        out_(set, checkpoint, context),
        portions_(options, set, context),
        arrays_(dataset.arrays.size()),
        readers_([&] { return std::make_unique<LatentReader>(normalization); }),
        values_([] { return std::make_unique<Buffer<std::byte>>(); }),
        blocks_([] { return std::make_unique<RowBlock>(); }),
        reservation_(
            context.budget.reserve(estimate_gathered_memory(options, set, context), "latents for the device")) {}

  MeasuringResult run() {
    using Items = chain::Batch<ShardRow>;
    using Rows = std::vector<MeasuredRows>;
    const auto together = [this](const ShardRow& first, const ShardRow& next) {
      return can_measure_together(set_, first, next);
    };
    const auto write = [this](const Rows& rows) {
      for (const MeasuredRows& one : rows) out_.write(one);
    };
    const auto stages =
        chain::source<ShardRow>("latents", [this] { return rows_.next(); }) |
        chain::batch<ShardRow>(portions_.together, together) |
        chain::parallel<Items, ReadRows>(
            "read", [this](const Items& items, Span& span) { return read(items, span); }, "a faster disk") |
        chain::collect<ReadRows, Rows>(
            "measure", [this](ReadRows rows, Span& span) { return gather(std::move(rows), span); },
            "a larger --memory, for larger batches on the device") |
        chain::sink<Rows>("write", [&](const Rows& rows, Span&) { write(rows); });
    chain::run(stages, context_,
               chain::MemoryCost::fixed(portions_.item_bytes(), GatherSizes::max_in_flight(context_)));
    context_.throw_if_cancelled();
    write(measure());
    MeasuringResult out;
    drop_analyzer();
    out.latents = out_.written();
    out.seconds = seconds_;
    return out;
  }

 private:
  ReadRows read(const chain::Batch<ShardRow>& items, Span& span) {
    ReadRows out{items.front().task, items.front().row, items.back().row + 1, nullptr, {}, {}, {}};
    if (out.task.taken) return out;
    MeasuringSeconds took;
    const bool trajectory = options_.chosen.trajectory;
    const std::uint64_t first = trajectory ? find_first_needed_row(set_, out.begin) : out.begin;
    const auto reader = readers_.take();
    const auto read_one = [&](std::uint64_t row) {
      const TimedScope timed(took.reading);
      return reader->read(set_.files[row]);
    };
    out.values = values_.take();
    out.values->resize((out.end - first) * portions_.each);
    std::vector<ArrayView> views;
    for (std::uint64_t row = first; row < out.end; ++row) {
      ArrayView view = read_one(row);
      std::byte* const to = out.values->data() + (row - first) * portions_.each;
      const std::size_t bytes = static_cast<std::size_t>(view.elements()) * view.type.bytes();
      std::copy_n(static_cast<const std::byte*>(view.data), bytes, to);
      view.data = to;
      views.push_back(std::move(view));
    }
    for (std::uint64_t row = out.begin; row < out.end; ++row) {
      const std::size_t at = row - first;
      Step step;
      double end_to_end = Measures::kAbsent;
      if (trajectory && at > 0) {
        {
          const TimedScope timed(took.trajectories);
          step = measure_step(views[at], views[at - 1], at > 1 ? &views[at - 2] : nullptr);
        }
        if (is_last_of_video(set_, row)) {
          const ArrayView start = read_one(find_first_of_video(set_, row));
          const TimedScope timed(took.trajectories);
          end_to_end = measure_step(views[at], start, nullptr).distance;
        }
      }
      out.steps.push_back(step);
      out.ends.push_back(end_to_end);
    }
    out.views.assign(views.begin() + static_cast<std::ptrdiff_t>(out.begin - first), views.end());
    span.stage().add_bytes(items.size() * set_.files[out.begin].bytes());
    const MutexLock lock(mutex_);
    seconds_.add(took);
    return out;
  }

  std::optional<std::vector<MeasuredRows>> gather(ReadRows rows, Span&) {
    gathered_ += rows.views.size();
    waiting_.push_back(std::move(rows));
    if (gathered_ > 0 && gathered_ < portions_.gathered) return std::nullopt;
    return measure();
  }

  // Measures all waiting latents.
  std::vector<MeasuredRows> measure() {
    std::vector<MeasuredRows> out(waiting_.size());
    std::vector<std::vector<Measures>> measures(waiting_.size());
    struct WaitingIndex {
      std::size_t rows, at;
    };
    std::vector<WaitingIndex> places;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      measures[i].resize(waiting_[i].views.size());
      for (std::size_t k = 0; k < measures[i].size(); ++k) places.push_back({i, k});
    }
    // Latents of one shape are measured together.
    const auto shape_of = [&](const WaitingIndex& place) -> const LatentShape& {
      return set_.files[waiting_[place.rows].begin + place.at].shape;
    };
    std::stable_sort(places.begin(), places.end(), [&](const WaitingIndex& a, const WaitingIndex& b) {
      return shape_of(a).frames < shape_of(b).frames;
    });
    for (std::size_t begin = 0, end = 0; begin < places.size(); begin = end) {
      while (end < places.size() && shape_of(places[end]) == shape_of(places[begin])) ++end;
      std::vector<ArrayView> views;
      std::vector<Measures> found(end - begin);
      for (std::size_t i = begin; i < end; ++i) views.push_back(waiting_[places[i].rows].views[places[i].at]);
      get_analyzer(shape_of(places[begin])).measure(views, found);
      for (std::size_t i = begin; i < end; ++i) measures[places[i].rows][places[i].at] = std::move(found[i - begin]);
    }
    context_.executor.parallel_for(waiting_.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) out[i] = written(waiting_[i], measures[i]);
    });
    context_.throw_if_cancelled();
    waiting_.clear();
    gathered_ = 0;
    return out;
  }

  MeasuredRows written(const ReadRows& rows, const std::vector<Measures>& measures) {
    MeasuredRows out{rows.task, rows.end, nullptr};
    if (rows.task.taken) return out;
    out.block = blocks_.take();
    out.block->clear(arrays_);
    for (std::size_t k = 0; k < measures.size(); ++k)
      writer_.append(set_.files[rows.begin + k], measures[k], rows.steps[k], rows.ends[k], *out.block);
    return out;
  }

  DeviceAnalyzer& get_analyzer(const LatentShape& shape) {
    if (!analyzer_ || !(shape_ == shape)) {
      drop_analyzer();
      analyzer_ = std::make_unique<DeviceAnalyzer>(shape, options_.chosen.metrics, context_.executor,
                                                   *context_.accelerator, context_.budget);
      shape_ = shape;
    }
    return *analyzer_;
  }
  void drop_analyzer() {
    if (!analyzer_) return;
    const MutexLock lock(mutex_);
    seconds_.parts[static_cast<std::size_t>(AnalysisStage::numbers)] += analyzer_->counts().finishing_s;
    analyzer_.reset();
  }

  const LatentsJobOptions& options_;
  const LatentSet& set_;
  RunContext& context_;
  ShardRows rows_;
  const LatentRowWriter writer_;
  LatentShardWriter out_;
  const GatherSizes portions_;
  const std::size_t arrays_;
  ObjectPool<LatentReader> readers_;
  ObjectPool<Buffer<std::byte>> values_;
  ObjectPool<RowBlock> blocks_;
  Reservation reservation_;
  std::vector<ReadRows> waiting_;
  std::uint64_t gathered_ = 0;  // number of latents in waiting_
  LatentShape shape_;
  std::unique_ptr<DeviceAnalyzer> analyzer_;
  Mutex mutex_;  // guards `seconds_` while latents are read
  MeasuringSeconds seconds_;
};

}  // namespace

std::optional<Route> choose_route(const LatentsJobOptions& options, const LatentSet& set, const RunContext& context) {
  if (context.accelerator == nullptr) return std::nullopt;
  double elements = 0;
  for (const LatentFile& latent : set.files) elements += static_cast<double>(latent.shape.elements());
  DeviceWork work;
  work.source = &bodies::latents();
  work.operation = "latents.all";
  work.amount = elements / 1e6;
  // The device's rate includes transfers from the host's memory and back.
  work.bytes_up = work.bytes_down = 0;
  work.cpu_s = elements / kElementsPerSecond / context.executor.threads();
  Route route = choose_side(*context.accelerator, work);
  // Latents that the device leaves to the CPU need memory beside those that wait for it, and those being read.
  const Bytes one = DeviceAnalyzer::bytes_on_cpu(set.max_shape());
  const Bytes in_flight =
      std::max(GatherSizes(options, set, context).item_bytes(), GatherSizes::max_in_flight(context));
  if (route.on_device &&
      estimate_gathered_memory(options, set, context) + in_flight + one > context.budget.largest_grant()) {
    route = {false, route.device_s, 0,
             fmt::format("on the CPU: a memory limit of {} is too small for the device's batches",
                         format_bytes(context.budget.limit()))};
  }
  return route;
}

MeasuringResult measure_on_device(const LatentsJobOptions& options, const LatentSet& set,
                                  const Normalization& normalization, const DatasetSpec& dataset,
                                  Checkpoint& checkpoint, RunContext& context) {
  return DeviceStage(options, set, normalization, dataset, checkpoint, context).run();
}

MeasuringMemory estimate_device_memory(const LatentsJobOptions& options, const LatentSet& set,
                                       const RunContext& context) {
  const GatherSizes portions(options, set, context);
  const Bytes sums{DeviceAnalyzer::host_bytes(set.max_shape(), options.chosen.metrics, portions.gathered,
                                              context.executor.threads())};
  return {estimate_gathered_memory(options, set, context) + sums,
          {portions.row},
          portions.item_bytes(),
          GatherSizes::max_in_flight(context)};
}

}  // namespace millrace::latents
