#include "src/jobs/latents/run.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/jobs/latents/dataset.h"
#include "src/jobs/latents/metrics_csv.h"
#include "src/jobs/latents/read.h"
#include "src/pipeline/chain.h"
#include "src/pipeline/checkpoint/checkpoint.h"
#include "src/pipeline/pool.h"

namespace millrace::latents {
namespace {

// Latents of a part: little enough that a kill loses not much, large enough that a part costs nothing.
constexpr std::uint64_t kPart = 256;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// One thread's: what measuring takes. Videos may have different numbers of frames; the last one's is kept.
class ThreadScratch {
 public:
  const Measures& measure(const LatentFile& latent) {
    if (!analyzer_ || !(shape_ == latent.shape)) {
      analyzer_.reset();
      analyzer_ = std::make_unique<Analyzer>(latent.shape);
      shape_ = latent.shape;
    }
    analyzer_->measure(reader_.read(latent), measures_);
    return measures_;
  }

  static Bytes bytes(const LatentSet& set) {
    std::uint64_t most = 0;
    for (const LatentFile& latent : set.files)
      most = std::max(most, Analyzer::bytes(latent.shape) + LatentReader::bytes(latent));
    return {most};
  }

 private:
  LatentReader reader_;
  Shape shape_;
  std::unique_ptr<Analyzer> analyzer_;
  Measures measures_;
};

// A latent of a part; or all of a part that an earlier run has made.
struct Item {
  Checkpoint::Task task;
  std::uint64_t row = 0;
};
struct Measured {
  Checkpoint::Task task;
  std::uint64_t row = 0;
  std::shared_ptr<RowBlock> block;
};

class MeasureStage {
 public:
  MeasureStage(const LatentSet& set, RunContext& context, Checkpoint& checkpoint, const DatasetSpec& dataset)
      : set_(set),
        context_(context),
        checkpoint_(checkpoint),
        arrays_(dataset.arrays.size()),
        row_bytes_(row_bytes(dataset)),
        scratch_([] { return std::make_unique<ThreadScratch>(); }),
        blocks_([] { return std::make_unique<RowBlock>(); }),
        paid_(context.budget.reserve(ThreadScratch::bytes(set) * static_cast<std::uint64_t>(context.executor.threads()),
                                     "measuring")) {}

  // All that is missing. Returns how many latents were measured.
  std::uint64_t run(Progress& progress) {
    std::uint64_t measured = 0;
    const auto stages =
        chain::source<Item>("latents", [this] { return next(); }) |
        chain::parallel<Item, Measured>(
            "measure", [this](const Item& item, Span& span) { return measure(item, span); }, "more threads") |
        chain::sink<Measured>("write", [&](const Measured& item, Span&) {
          const std::uint64_t k = item.task.part;
          if (item.task.taken) {
            checkpoint_.take(k);
            progress.add(checkpoint_.parts().end(k) - checkpoint_.parts().begin(k));
            return;
          }
          checkpoint_.append(k, *item.block);
          if (item.row + 1 == checkpoint_.parts().end(k)) checkpoint_.end(k);
          ++measured;
          progress.add(1, set_.files[item.row].bytes());
        });
    chain::run(stages, context_, chain::Price::fixed({row_bytes_}));
    context_.throw_if_cancelled();
    return measured;
  }

  static std::uint64_t row_bytes(const DatasetSpec& dataset) {
    std::uint64_t out = 0;
    for (const ArraySpec& array : dataset.arrays) out += array.row_bytes() + array.text_bytes + sizeof(ArrayRows);
    return out;
  }

 private:
  std::optional<Item> next() {
    if (at_.row == end_) {
      const auto task = checkpoint_.next();
      if (!task) return std::nullopt;
      end_ = checkpoint_.parts().end(task->part);
      at_ = {*task, task->taken ? end_ : checkpoint_.parts().begin(task->part)};
      if (task->taken) return at_;
    }
    return Item{at_.task, at_.row++};
  }

  Measured measure(const Item& item, Span& span) {
    Measured out{item.task, item.row, nullptr};
    if (item.task.taken) return out;
    const LatentFile& latent = set_.files[item.row];
    const std::shared_ptr<ThreadScratch> scratch = scratch_.take();
    out.block = blocks_.take();
    out.block->clear(arrays_);
    append_row(set_, latent, scratch->measure(latent), *out.block);
    span.stage().add_bytes(latent.bytes());
    return out;
  }

  const LatentSet& set_;
  RunContext& context_;
  Checkpoint& checkpoint_;
  const std::size_t arrays_;
  const std::uint64_t row_bytes_;
  Pool<ThreadScratch> scratch_;
  Pool<RowBlock> blocks_;
  Reservation paid_;
  Item at_;                // the next one
  std::uint64_t end_ = 0;  // of its part
};

}  // namespace

std::string arrays_path(const Options& options) { return path_in(options.output, "arrays.h5"); }
std::string csv_path(const Options& options) { return path_in(options.output, "metrics.csv"); }

namespace {

// Whether it was made.
bool make_results_folder(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0755) == 0) return true;
  if (errno == EEXIST) return false;
  throw Failure(system_error("it cannot be created", printable(folder), errno));
}

}  // namespace

Summary run(const Options& options, const Output& csv, RunContext& context) {
  const auto begin = Clock::now();
  const LatentSet set = find_latents(options, context);
  Summary out;
  out.latents = set.files.size();
  out.videos = set.videos.size();
  out.groups = set.groups();
  out.unusable = set.unusable;
  for (const LatentFile& latent : set.files) out.bytes += latent.bytes();
  const bool made = make_results_folder(options.output);
  if (!made && !csv) {
    throw Failure(ErrorCode::conflict, "it has appeared while this run began", printable(options.output),
                  "run the same command again");
  }
  const Output table = made ? Output::in_place_of_anything(csv_path(options)) : csv;
  CheckpointSpec spec;
  spec.output = arrays_path(options);
  spec.store = StoreKind::hdf5;
  spec.dataset = dataset_of(options, set);
  spec.each = kPart;
  spec.mark = kMark;
  spec.share = options.share;
  Checkpoint checkpoint(spec);
  if (!checkpoint.finished()) {
    Progress progress(context.progress, "measuring", set.files.size());
    out.measured = MeasureStage(set, context, checkpoint, spec.dataset).run(progress);
    checkpoint.wait();
    out.measuring_seconds = since(begin);
    out.published = checkpoint.publish([&] { context.throw_if_cancelled(); });
    out.missing = checkpoint.missing();
  }
  if (out.published) out.not_finite = write_metrics_csv(arrays_path(options), table, set, context);
  out.seconds = since(begin);
  return out;
}

Plan plan(const Options& options, RunContext& context) {
  const LatentSet set = find_latents(options, context);
  const DatasetSpec dataset = dataset_of(options, set);
  const LatentFile& first = set.files.front();
  std::uint64_t bytes = 0;
  for (const LatentFile& latent : set.files) bytes += latent.bytes();
  const std::uint64_t row = MeasureStage::row_bytes(dataset);
  Plan out;
  out.lines = {
      {"latents", fmt::format("{} of {} x {} x {}, {} ({}), in {} videos of {} groups", grouped(set.files.size()),
                              first.shape.channels, first.shape.height, first.shape.width, name_of(first.type),
                              to_text(Bytes{bytes}), grouped(set.videos.size()), grouped(set.groups()))},
      {"output", fmt::format("about {}", to_text(Bytes{row * set.files.size()}))}};
  if (!set.unusable.empty()) out.lines.push_back({"not used", fmt::format("{} files", grouped(set.unusable.size()))});
  out.figures = {{"latents", set.files.size()},
                 {"videos", set.videos.size()},
                 {"groups", set.groups()},
                 {"bytes", bytes},
                 {"unusable", set.unusable.size()}};
  const auto threads = static_cast<std::uint64_t>(context.executor.threads());
  out.threads = context.executor.threads();
  out.in_flight = chain::tokens_for(context, {row});
  out.memory = {{"the program itself", 16_MiB},
                {"measuring", ThreadScratch::bytes(set) * threads},
                {"rows in flight", Bytes{row * out.in_flight}}};
  out.allowed = context.budget.limit();
  return out;
}

}  // namespace millrace::latents
