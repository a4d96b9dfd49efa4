#include "src/jobs/render/job.h"

#include <fmt/format.h>

#include "src/base/text.h"
#include "src/device/accelerator.h"
#include "src/jobs/render/run.h"
#include "src/report/json_path.h"

namespace millrace::render {
namespace {

// Reports changes that were made to the series, and properties of the series that could not be determined.
void report_series(const RenderSummary& summary, std::vector<std::string>& out) {
  const auto& series = summary.series;
  if (series.undated > 0) {
    out.push_back(
        fmt::format("{} of {} series have no readable dates: the order of their rows was not checked; for tables, name "
                    "the date column with --columns date=NAME",
                    group_digits(series.undated), group_digits(series.all)));
  }
  if (series.sorted > 0)
    out.push_back(
        fmt::format("{} of {} series were sorted by date", group_digits(series.sorted), group_digits(series.all)));
  if (summary.repeats > 0)
    out.push_back(fmt::format("{} rows were dropped: another row of their series has the same time",
                              group_digits(summary.repeats)));
  if (series.short_ones > 0) {
    out.push_back(fmt::format("{} of {} series were skipped: they are shorter than a window",
                              group_digits(series.short_ones), group_digits(series.all)));
  }
}

Json json_of(const RenderSummary& summary) {
  return {{kJsonMark, "render"},
          {"charts", summary.charts},
          {"drawn", summary.drawn},
          {"gaps", summary.gaps},
          {"series", summary.series.all},
          {"series_undated", summary.series.undated},
          {"series_sorted", summary.series.sorted},
          {"series_short", summary.series.short_ones},
          {"repeats_left_out", summary.repeats},
          {"bytes", summary.bytes},
          {"unusable", unusable_files_to_json(summary.unusable)}};
}

class RenderJob : public Job {
 public:
  Arguments arguments() override {
    return {"INPUT", "price series: CSV with a header, .npy, or FILE.h5:/DATASET", &options_.inputs, false};
  }
  std::vector<DeviceKind> devices() const override { return {DeviceKind::cuda, DeviceKind::opencl}; }
  void describe(Settings& settings) override { render::describe(settings, options_); }

  void register_files(OutputRegistry& outputs) override {
    for (const std::string& input : options_.inputs) outputs.add_input(input_file(input));
    if (options_.sample > 0) {
      sheet_ = outputs.add("--output", options_.output, sheet_kind());
    } else {
      // A store is replaced only by one of the same inputs and options: src/pipeline/checkpoint/checkpoint.h.
      outputs.add_store("--output", options_.output);
    }
  }
  OutputKind json_kind() const override {
    return {"the result of millrace render", ReadAccess::everyone,
            make_json_recognizer("render", {"charts", "drawn", "gaps", "bytes", "unusable"})};
  }

  Plan plan(RunContext& context) override {
    options_.fill_defaults();
    return estimate(options_, context);
  }

  Result run(RunContext& context, const PrintLines&) override {
    options_.fill_defaults();
    if (options_.output.empty()) {
      throw Failure(ErrorCode::usage, "no output was given", "-o",
                    options_.sample > 0 ? "name a file, for example -o sheet.png"
                                        : "name a file or folder, for example -o charts.h5");
    }
    if (options_.sample > 0 && context.accelerator != nullptr)
      context.accelerator->record_fallback("contact sheets are drawn on the CPU");
    const RenderSummary summary =
        options_.sample > 0 ? draw_sheet(options_, sheet_, context) : render::run(options_, context);
    Result out;
    for (const Error& error : summary.unusable) out.summary.push_back("skipped: " + error.message());
    report_charts(summary, out.summary);
    report_series(summary, out.summary);
    if (summary.gaps > 0) {
      out.summary.push_back(
          fmt::format("{} rows lack a usable price and are drawn as gaps", group_digits(summary.gaps)));
    }
    out.json = [summary, part = static_cast<bool>(options_.share)] {
      Json json = json_of(summary);
      if (part) json["published"] = summary.published;
      return make_json_strings(json);
    };
    out.exit_code = summary.unusable.empty() ? ExitCode::done : ExitCode::partial;
    return out;
  }

 private:
  // Reports a run that is not the last of the runs that make the output.
  void report_missing_shards(const RenderSummary& summary, std::vector<std::string>& out) const {
    out.push_back(fmt::format("{} charts in {}, {}/s: --part {}/{} of {}", group_digits(summary.drawn),
                              format_duration(summary.seconds),
                              format_rate(static_cast<double>(summary.drawn) / std::max(summary.seconds, 1e-9)),
                              options_.share.index + 1, options_.share.of, options_.output));
    out.push_back(describe_missing_shards(options_.share, summary.missing, summary.parts, options_.output));
  }
  void report_charts(const RenderSummary& summary, std::vector<std::string>& out) const {
    if (options_.sample > 0) {
      out.push_back(fmt::format("{} charts on {}", group_digits(summary.charts), options_.output));
    } else if (!summary.published) {
      report_missing_shards(summary, out);
    } else if (summary.drawn == 0 && summary.drawing_seconds == 0) {
      out.push_back(fmt::format("{}: already complete, {} charts from the same inputs and options; nothing to do",
                                options_.output, group_digits(summary.charts)));
    } else {
      out.push_back(fmt::format("{} charts in {}, {}/s, {}: {}", group_digits(summary.charts),
                                format_duration(summary.seconds),
                                format_rate(static_cast<double>(summary.drawn) / std::max(summary.seconds, 1e-9)),
                                format_bytes(Bytes{summary.bytes}), options_.output));
      out.push_back(fmt::format("drawing {:.2f} s, merging {:.2f} s, last sync {:.2f} s", summary.drawing_seconds,
                                summary.merge_seconds, summary.sync_seconds));
      if (summary.drawn < summary.charts) {
        out.push_back(
            fmt::format("{} charts were drawn by a previous run", group_digits(summary.charts - summary.drawn)));
      }
    }
  }

  RenderOptions options_;
  OutputTarget sheet_;
};

}  // namespace

std::unique_ptr<Job> make_job() { return std::make_unique<RenderJob>(); }

}  // namespace millrace::render
