#include "src/jobs/latents/job.h"

#include <fmt/format.h>

#include <filesystem>

#include "src/base/text.h"
#include "src/jobs/latents/analysis/comparisons_csv.h"
#include "src/jobs/latents/analysis/summary_json.h"
#include "src/jobs/latents/group_table.h"
#include "src/jobs/latents/metrics_csv.h"
#include "src/jobs/latents/run.h"
#include "src/report/json_path.h"
#include "src/report/page/page.h"

namespace millrace::latents {
namespace {

Json json_of(const LatentsSummary& summary) {
  return {{kJsonMark, "latents"},         {"latents", summary.latents},
          {"videos", summary.videos},     {"groups", summary.groups},
          {"measured", summary.measured}, {"not_finite", summary.not_finite},
          {"bytes", summary.bytes},       {"unusable", unusable_files_to_json(summary.unusable)},
          {"notes", summary.notes},       {"findings", summary.findings}};
}

OutputKind report_kind() {
  return {"a page about latents", ReadAccess::everyone, [](FileReader& file) {
            const auto front = file.peek();
            const std::string_view text(reinterpret_cast<const char*>(front.data()), front.size());
            return text.starts_with(report::page_beginning("latents"));
          }};
}

class LatentsJob : public Job {
 public:
  Arguments arguments() override {
    return {"DIR", "a folder of latents: GROUP/VIDEO/step_000.npy", &options_.inputs, true, false};
  }
  std::vector<DeviceKind> devices() const override { return {DeviceKind::cuda, DeviceKind::opencl}; }
  void describe(Settings& settings) override { latents::describe(settings, options_); }

  void register_files(OutputRegistry& outputs) override {
    outputs.add_input_folder(options_.inputs.at(0), [](const std::string& path) {
      return file_name(path).starts_with("step_") || file_name(path) == kGroupsFile;
    });
    if (options_.output.empty()) return;
    outputs.reserve_path("--output", options_.output);
    // A folder that does not exist yet is created by the run.
    std::error_code error;
    if (!std::filesystem::exists(options_.output, error)) {
      if (std::filesystem::is_symlink(options_.output, error)) {
        throw Failure(ErrorCode::conflict, "it is a symbolic link to a missing folder",
                      escape_unprintable(options_.output), "remove it, or choose another name");
      }
      return;
    }
    if (!std::filesystem::is_directory(options_.output, error)) {
      throw Failure(ErrorCode::conflict, "already exists, but is not a folder", escape_unprintable(options_.output),
                    "choose another name");
    }
    // An existing store is replaced only by one with the same input fingerprint: src/pipeline/checkpoint/checkpoint.h.
    outputs.reserve_path("--output", result_path(options_, kArraysFile));
    const auto add = [&](const char* name, const OutputKind& kind) {
      OutputTarget out = outputs.add("--output", result_path(options_, name), kind);
      // A pipe of that name is refused: its reader does not expect this file.
      if (out.is_stream()) {
        throw Failure(ErrorCode::conflict, "already exists, but is not a regular file", escape_unprintable(out.path()),
                      "remove it, or choose another name");
      }
      return out;
    };
    files_.metrics = add(kMetricsFile, metrics_kind());
    files_.comparisons = add(kComparisonsFile, comparisons_kind());
    files_.summary = add(kSummaryFile, summary_kind());
    files_.performance = add(kPerformanceFile, performance_kind());
    // A page of a previous run is rewritten: it would show other results than the files beside it.
    options_.report = options_.report || outputs.is_own_output(result_path(options_, kReportFile), report_kind());
    if (options_.report) files_.report = add(kReportFile, report_kind());
  }
  OutputKind json_kind() const override {
    return {"the result of millrace latents", ReadAccess::everyone,
            make_json_recognizer("latents", {"latents", "videos", "groups", "measured"})};
  }

  Plan plan(RunContext& context) override { return latents::plan(options_, context); }

  Result run(RunContext& context, const PrintLines&) override {
    const bool only_compares = options_.output.empty() && !options_.compare.empty();
    if (options_.output.empty() && !only_compares)
      throw Failure(ErrorCode::usage, "no output was given", "-o", "name a folder, for example -o results");
    const LatentsSummary summary =
        only_compares ? latents::run_comparison(options_, context) : latents::run(options_, files_, context);
    Result out;
    for (const Error& error : summary.unusable) out.summary.push_back("skipped: " + error.message());
    for (const std::string& note : summary.notes) out.summary.push_back("note: " + note);
    if (!only_compares) report_results(summary, out.summary);
    if (!summary.comparison.sides.empty()) {
      const std::vector<std::string> lines = format_comparison(summary.comparison);
      out.summary.insert(out.summary.end(), lines.begin(), lines.end());
    }
    out.json = [summary, part = static_cast<bool>(options_.share)] {
      Json json = json_of(summary);
      if (part) json["published"] = summary.published;
      if (!summary.comparison.sides.empty()) json["compare"] = latents::json_of(summary.comparison);
      return make_json_strings(json);
    };
    const bool whole = summary.unusable.empty() && summary.not_finite == 0;
    out.exit_code = !summary.comparison.is_same() ? ExitCode::failed : whole ? ExitCode::done : ExitCode::partial;
    return out;
  }

 private:
  void report_results(const LatentsSummary& summary, std::vector<std::string>& out) const {
    const auto rate = [&] {
      return format_rate(static_cast<double>(summary.measured) /
                         std::max(summary.performance.measuring.elapsed_s, 1e-9));
    };
    if (summary.already_complete) {
      out.push_back(fmt::format("{}: already complete, nothing to do; run without --part to write its tables again",
                                escape_unprintable(options_.output)));
      return;
    }
    if (!summary.published) {
      out.push_back(fmt::format("{} latents measured, {}/s: --part {}/{} of {}", group_digits(summary.measured), rate(),
                                options_.share.index + 1, options_.share.of, result_path(options_, kArraysFile)));
      out.push_back(summary.missing.empty()
                        ? "other runs are still working: the last one merges the shards"
                        : fmt::format("{} shards are missing: the run that completes the last one merges them",
                                      group_digits(summary.missing.size())));
      return;
    }
    out.push_back(fmt::format("{} latents, {} videos, {} groups in {}: {}", group_digits(summary.latents),
                              group_digits(summary.videos), group_digits(summary.groups),
                              format_duration(summary.performance.all.elapsed_s), options_.output));
    if (summary.measured > 0) {
      out.push_back(fmt::format("measured in {:.2f} s, {} latents/s, {}/s", summary.performance.measuring.elapsed_s,
                                rate(),
                                format_bytes(Bytes{static_cast<std::uint64_t>(
                                    static_cast<double>(summary.bytes) * static_cast<double>(summary.measured) /
                                    static_cast<double>(summary.latents) / summary.performance.measuring.elapsed_s)})));
    }
    if (summary.measured < summary.latents) {
      out.push_back(
          fmt::format("{} latents were measured by a previous run", group_digits(summary.latents - summary.measured)));
    }
    if (summary.not_finite > 0) {
      out.push_back(
          fmt::format("{} latents were not measured: they contain NaN or infinity, or their sums exceed float32",
                      group_digits(summary.not_finite)));
    }
    for (const BenchmarkRow& row : summary.benchmark.rows) {
      out.push_back(fmt::format("{} latents at CPU level {} with {} {}: {:.2f} ms each, {}", summary.benchmark.latents,
                                row.cpu_level, row.threads, row.threads == 1 ? "thread" : "threads",
                                row.seconds * 1000 / static_cast<double>(summary.benchmark.latents),
                                row.is_same ? "same numbers" : "DIFFERENT NUMBERS"));
    }
    for (std::size_t i = 0; i < summary.findings.size(); ++i) out.push_back((i > 0 ? "  " : "") + summary.findings[i]);
  }

  LatentsJobOptions options_;
  ResultFiles files_;
};

}  // namespace

std::unique_ptr<Job> make_job() { return std::make_unique<LatentsJob>(); }

}  // namespace millrace::latents
