#include "src/jobs/latents/run.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <optional>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/jobs/latents/dataset.h"
#include "src/jobs/latents/metrics_csv.h"
#include "src/jobs/latents/read.h"
#include "src/pipeline/chain.h"
#include "src/pipeline/checkpoint/part_rows.h"
#include "src/pipeline/pool.h"

namespace millrace::latents {
namespace {

// Latents of a part: little enough that a kill loses not much, large enough that a part costs nothing.
constexpr std::uint64_t kPart = 256;
// Latents of a video that one thread measures in a row; of two before them it reads the numbers again.
constexpr std::size_t kTogether = 20;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// One thread's: what measuring takes. Videos may have different numbers of frames; the last one's is kept.
class ThreadScratch {
 public:
  explicit ThreadScratch(const LatentSet& set) : set_(set), rows_(set) {}

  // Consecutive latents of one video.
  void measure(std::uint64_t begin, std::uint64_t end, RowBlock& block) {
    const std::size_t video = set_.files[begin].video;
    const auto of_video = [&](std::uint64_t row) { return row < set_.files.size() && set_.files[row].video == video; };
    if (!analyzer_ || !(shape_ == set_.files[begin].shape)) {
      analyzer_.reset();
      analyzer_ = std::make_unique<Analyzer>(set_.files[begin].shape);
      shape_ = set_.files[begin].shape;
    }
    // What the first of them is compared with.
    std::uint64_t first = begin;
    while (first > 0 && begin - first < 2 && of_video(first - 1)) --first;
    std::optional<ArrayView> before, earlier;
    for (std::uint64_t row = first; row < end; ++row) {
      const ArrayView now = readers_[row % readers_.size()].read(set_.files[row]);
      if (row >= begin) {
        analyzer_->measure(now, measures_);
        Step step;
        if (before) step = step_between(now, *before, earlier ? &*earlier : nullptr);
        double end_to_end = Measures::kAbsent;
        if (before && !of_video(row + 1)) end_to_end = from_start(now, row);
        rows_.append(set_.files[row], measures_, step, end_to_end, block);
      }
      earlier = before;
      before = now;
    }
  }

  static Bytes bytes(const LatentSet& set) {
    // All that may differ is the number of frames, and more of them take more.
    const auto& longest = *std::max_element(set.files.begin(), set.files.end(), [](const auto& a, const auto& b) {
      return a.shape.frames < b.shape.frames;
    });
    return {Analyzer::bytes(longest.shape) + (kReaders + 1) * LatentReader::bytes(longest)};
  }

 private:
  static constexpr std::size_t kReaders = 3;

  // Of a video's last latent.
  double from_start(const ArrayView& last, std::uint64_t row) {
    std::uint64_t first = row;
    while (first > 0 && set_.files[first - 1].video == set_.files[row].video) --first;
    return step_between(last, first_.read(set_.files[first]), nullptr).distance;
  }

  const LatentSet& set_;
  const RowWriter rows_;
  std::array<LatentReader, kReaders> readers_;
  LatentReader first_;
  Shape shape_;
  std::unique_ptr<Analyzer> analyzer_;
  Measures measures_;
};

// Consecutive latents of one video, in one part.
struct Measured {
  Checkpoint::Task task;
  std::uint64_t end = 0;  // behind the last of them
  std::shared_ptr<RowBlock> block;
};

class MeasureStage {
 public:
  MeasureStage(const LatentSet& set, RunContext& context, Checkpoint& checkpoint, const DatasetSpec& dataset)
      : set_(set),
        context_(context),
        checkpoint_(checkpoint),
        rows_(checkpoint),
        arrays_(dataset.arrays.size()),
        row_bytes_(row_bytes(dataset)),
        scratch_([&set] { return std::make_unique<ThreadScratch>(set); }),
        blocks_([] { return std::make_unique<RowBlock>(); }),
        paid_(context.budget.reserve(ThreadScratch::bytes(set) * static_cast<std::uint64_t>(context.executor.threads()),
                                     "measuring")) {}

  // All that is missing. Returns how many latents were measured.
  std::uint64_t run(Progress& progress) {
    std::uint64_t measured = 0;
    const auto of_one_video = [this](const PartRow& first, const PartRow& next) {
      return !first.task.taken && !next.task.taken && first.task.part == next.task.part &&
             set_.files[first.row].video == set_.files[next.row].video;
    };
    using Items = chain::Batch<PartRow>;
    const auto stages =
        chain::source<PartRow>("latents", [this] { return rows_.next(); }) |
        chain::batch<PartRow>(kTogether, of_one_video) |
        chain::parallel<Items, Measured>(
            "measure", [this](const Items& items, Span& span) { return measure(items, span); }, "more threads") |
        chain::sink<Measured>("write", [&](const Measured& item, Span&) {
          const std::uint64_t k = item.task.part;
          if (item.task.taken) {
            checkpoint_.take(k);
            progress.add(checkpoint_.parts().end(k) - checkpoint_.parts().begin(k));
            return;
          }
          checkpoint_.append(k, *item.block);
          if (item.end == checkpoint_.parts().end(k)) checkpoint_.end(k);
          measured += item.block->rows;
          progress.add(item.block->rows, item.block->rows * set_.files[item.end - 1].bytes());
        });
    chain::run(stages, context_, chain::Price::fixed({kTogether * row_bytes_}));
    context_.throw_if_cancelled();
    return measured;
  }

  static std::uint64_t row_bytes(const DatasetSpec& dataset) {
    std::uint64_t out = 0;
    for (const ArraySpec& array : dataset.arrays) out += array.row_bytes() + array.text_bytes + sizeof(ArrayRows);
    return out;
  }

 private:
  Measured measure(const chain::Batch<PartRow>& items, Span& span) {
    Measured out{items.front().task, items.back().row + 1, nullptr};
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
  Checkpoint& checkpoint_;
  PartRows rows_;
  const std::size_t arrays_;
  const std::uint64_t row_bytes_;
  Pool<ThreadScratch> scratch_;
  Pool<RowBlock> blocks_;
  Reservation paid_;
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
  out.in_flight = chain::tokens_for(context, {kTogether * row});
  out.memory = {{"the program itself", 16_MiB},
                {"measuring", ThreadScratch::bytes(set) * threads},
                {"rows in flight", Bytes{kTogether * row * out.in_flight}}};
  out.allowed = context.budget.limit();
  return out;
}

}  // namespace millrace::latents
