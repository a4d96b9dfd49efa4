#include "src/jobs/latents/run.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/device/accelerator.h"
#include "src/io/store/hdf5_reader.h"
#include "src/jobs/latents/analysis/analysis.h"
#include "src/jobs/latents/analysis/analysis_view.h"
#include "src/jobs/latents/analysis/comparisons_csv.h"
#include "src/jobs/latents/analysis/findings.h"
#include "src/jobs/latents/analysis/profiles.h"
#include "src/jobs/latents/analysis/separability.h"
#include "src/jobs/latents/analysis/summary_json.h"
#include "src/jobs/latents/dataset.h"
#include "src/jobs/latents/latent_reader.h"
#include "src/jobs/latents/measure_device.h"
#include "src/jobs/latents/metrics_csv.h"
#include "src/jobs/latents/normalize.h"
#include "src/pipeline/chain.h"

namespace millrace::latents {
namespace {

// Latents per shard: few enough that a killed run loses little, and enough that a shard's overhead is small.
constexpr std::uint64_t kLatentsPerShard = 256;

// Creates the folder; returns false if it exists.
bool make_results_folder(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0755) == 0) return true;
  if (errno == EEXIST) return false;
  throw Failure(system_error("it cannot be created", escape_unprintable(folder), errno));
}

// Returns outputs in a folder that this run has created: all names in it are the program's own.
ResultFiles make_result_files(const LatentsJobOptions& options) {
  const auto file = [&](const char* name) { return OutputTarget::overwrite_any_file(result_path(options, name)); };
  return {file(kMetricsFile), file(kComparisonsFile), file(kSummaryFile), file(kPerformanceFile), file(kReportFile)};
}

// Memory needs of the stages after measuring, which run one after the other.
std::vector<Plan::Need> estimate_later_memory(const LatentsJobOptions& options, const LatentSet& set,
                                              const RunContext& context) {
  const int threads = context.executor.threads();
  const std::size_t columns = (options.chosen.metrics.count() + kTrajectoryNames.size()) * (set.steps().size() + 1);
  std::vector<Plan::Need> out = {{"statistics", estimate_analysis_memory(set, columns, threads)}};
  if (options.chosen.separability && set.groups() > 1)
    out.push_back({"separability", estimate_separability_memory(options, set, threads, context.budget.limit())});
  return out;
}

// Reports latents whose files were not read, in this run or a previous one. They count as unusable, not as latents that
// hold NaN.
void report_damaged_latents(MetricTable& table, LatentSet& set, RunContext& context) {
  std::vector<std::optional<Error>> errors(table.without_numbers.size());
  context.executor.parallel_for(errors.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end && !context.cancel.cancelled(); ++i)
      errors[i] = find_damage(set.files[table.without_numbers[i]]);
  });
  context.throw_if_cancelled();
  for (const auto& error : errors) {
    if (!error) continue;
    set.unusable.push_back(*error);
    --table.not_finite;
  }
}

LatentsSummary make_summary(const LatentSet& set) {
  LatentsSummary out;
  out.latents = set.files.size();
  out.videos = set.videos.size();
  out.groups = set.groups();
  out.unusable = set.unusable;
  out.notes = set.warnings;
  out.bytes = set.bytes();
  return out;
}

std::string text_of(const Json& json) { return json.dump(1) + "\n"; }

// Writes all results that are made from arrays.h5, once it is complete.
void write_results(const LatentsJobOptions& options, LatentSet& set, const Normalization& normalization,
                   const ResultFiles& files, RunContext& context, LatentsSummary& out) {
  LapTimer lap;
  const std::string arrays = result_path(options, kArraysFile);
  MetricTable table = read_metric_table(arrays, options, set, context);
  report_damaged_latents(table, set, context);
  out.unusable = set.unusable;
  out.not_finite = table.not_finite;
  write_metrics_csv(table, files.metrics, set, context);
  out.performance.writing = lap.next();
  const Analysis analysis = analyse_groups(options, set, table, context);
  out.performance.statistics = lap.next();
  SeparabilityResult separability;
  if (options.chosen.separability) separability = compute_separability(options, set, normalization, context);
  out.notes.insert(out.notes.end(), separability.notes.begin(), separability.notes.end());
  out.performance.separability = lap.next();
  const Profiles profiles = read_profiles(arrays, options, set, context);
  write_comparisons_csv(analysis, files.comparisons, context);
  // JSON is written in one line: with a line per number it would be twice as large.
  files.summary.write(summary_json(options, set, table, analysis, profiles, separability).dump() + "\n");
  if (options.report)
    files.report.write(make_page(make_analysis_view(options, set, table, analysis, profiles, separability)));
  out.findings = describe_findings(analysis, separability);
  out.notes.insert(out.notes.end(), analysis.notes.begin(), analysis.notes.end());
  out.performance.writing += lap.next();
}

}  // namespace

std::string result_path(const LatentsJobOptions& options, const char* name) { return join_path(options.output, name); }

LatentsSummary run_comparison(const LatentsJobOptions& options, RunContext& context) {
  const std::vector<Device> devices = parse_devices(options.compare);
  const LatentSet set = find_latents(options, context);
  LatentsSummary out = make_summary(set);
  out.comparison = compare(devices, options, set, compute_normalization(options, set, context), context);
  return out;
}

LatentsSummary run(const LatentsJobOptions& options, const ResultFiles& given, RunContext& context) {
  LapTimer all, lap;
  // Devices that cannot be used are reported before the work.
  std::vector<Device> compared;
  if (!options.compare.empty()) compared = parse_devices(options.compare);
  LatentSet set = find_latents(options, context);
  LatentsSummary out = make_summary(set);
  out.performance.finding = lap.next();
  if (set.count_without_metadata() > 0) {
    out.notes.push_back(fmt::format("{} of {} latents have no metadata file (step_..._metadata.json)",
                                    group_digits(set.count_without_metadata()), group_digits(set.files.size())));
  }
  // Memory that a later stage cannot have is reported before the work.
  for (const Plan::Need& need : estimate_later_memory(options, set, context))
    const Reservation asked = context.budget.reserve(need.size, need.purpose);
  // Measuring is useless if arrays.h5 cannot be read again: its reader is tested first.
  const std::string arrays = result_path(options, kArraysFile);
  if (const auto ready = hdf5::DatasetReader().start(escape_unprintable(arrays)); !ready.ok())
    throw Failure(ready.error());
  const bool made = make_results_folder(options.output);
  if (!made && !given) {
    throw Failure(ErrorCode::conflict, "it was created while this run started", escape_unprintable(options.output),
                  "run the same command again");
  }
  const ResultFiles files = made ? make_result_files(options) : given;
  CheckpointSpec spec;
  spec.output = arrays;
  spec.store = StoreKind::hdf5;
  spec.dataset = make_dataset_spec(options, set);
  spec.each = kLatentsPerShard;
  spec.mark = kMark;
  spec.share = options.share;
  spec.check_cancelled = [&context] { context.throw_if_cancelled(); };
  spec.input_state = [&set](std::uint64_t begin, std::uint64_t end) {
    std::vector<FileEntry> files;
    for (std::uint64_t k = begin; k < std::min<std::uint64_t>(end, set.files.size()); ++k)
      files.push_back(set.files[k].file);
    return hash_file_states(files);
  };
  Checkpoint checkpoint(spec);
  lap.next();
  // The file performance.json is written last: if it exists, the run that made the last shard has written all results.
  std::error_code error;
  if (options.share && checkpoint.finished() &&
      std::filesystem::exists(result_path(options, kPerformanceFile), error)) {
    out.already_complete = true;
    return out;
  }
  // Separability and samples need the normalization, even if a previous run measured everything.
  const Normalization normalization = compute_normalization(options, set, context);
  out.performance.normalizing = lap.next();
  if (!checkpoint.finished()) {
    out.performance.measured = measure_missing_rows(options, set, normalization, spec.dataset, checkpoint, context);
    out.measured = out.performance.measured.latents;
    out.performance.bytes_measured = out.bytes / out.latents * out.measured;
    checkpoint.wait();
    out.published = checkpoint.publish([&] { context.throw_if_cancelled(); });
    out.missing = checkpoint.missing();
    out.performance.measuring = lap.next();
  }
  if (out.published) {
    write_results(options, set, normalization, files, context, out);
    if (options.benchmark) out.benchmark = benchmark(options, set, normalization, context);
    if (!compared.empty()) {
      out.comparison = compare(compared, options, set, normalization, context);
    } else if (options.benchmark && context.accelerator != nullptr && !context.accelerator->is_excluded()) {
      try {
        out.comparison = compare({Device{}, context.accelerator->device()}, options, set, normalization, context);
      } catch (const Failure& failure) {
        // Users did not name this device, and the results are written: the failure becomes a note.
        if (failure.error().code != ErrorCode::unavailable) throw;
        out.notes.push_back("the device was not benchmarked: " + failure.error().message());
      }
    }
    out.performance.all = all.next();
    files.performance.write(text_of(performance_json(out.performance, out.benchmark, out.comparison, context)));
  }
  return out;
}

Plan plan(const LatentsJobOptions& options, RunContext& context) {
  const LatentSet set = find_latents(options, context);
  const DatasetSpec dataset = make_dataset_spec(options, set);
  const LatentFile& first = set.files.front();
  const MeasuringMemory memory = estimate_measuring_memory(options, set, dataset, context);
  Plan out;
  out.lines = {{"latents", fmt::format("{} with {} channels of {} x {}, {} ({}), in {} videos of {} groups",
                                       group_digits(set.files.size()), first.shape.channels, first.shape.height,
                                       first.shape.width, name_of(first.tensor.type), format_bytes(Bytes{set.bytes()}),
                                       group_digits(set.videos.size()), group_digits(set.groups()))},
               {"output", fmt::format("about {}", format_bytes(memory.row * set.files.size()))}};
  if (!set.unusable.empty())
    out.lines.push_back({"skipped", fmt::format("{} files", group_digits(set.unusable.size()))});
  out.figures = {{"latents", set.files.size()},
                 {"videos", set.videos.size()},
                 {"groups", set.groups()},
                 {"bytes", set.bytes()},
                 {"unusable", set.unusable.size()}};
  if (const auto route = choose_route(options, set, context)) {
    out.lines.push_back({"device", route->why});
    out.figures["where"] = route->why;
  }
  out.threads = context.executor.threads();
  out.in_flight = chain::count_tokens(context, memory.item, memory.max_in_flight);
  out.memory = {
      {"the program itself", 16_MiB}, {"measuring", memory.measuring}, {"rows in flight", memory.item * out.in_flight}};
  for (const Plan::Need& need : estimate_later_memory(options, set, context)) {
    if (need.size + 16_MiB > out.total_memory()) out.memory = {{"the program itself", 16_MiB}, need};
  }
  out.allowed = context.budget.limit();
  return out;
}

}  // namespace millrace::latents
