#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "src/base/text.h"
#include "src/cli/app.h"
#include "src/jobs/render/run.h"

namespace millrace::cli {
namespace {

class RenderCommand : public Command {
 public:
  explicit RenderCommand(CLI::App& parent) : Command(parent, "render", "price series to charts for training") {
    app().add_option("INPUT", options_.inputs, "series: CSV with a header, .npy, or FILE.h5:/DATASET");
    render::describe(settings(), options_);
    add_flags();
  }

 protected:
  std::string plan(RunContext& context) override {
    options_.settle();
    return render::describe_plan(options_, context);
  }

  void look_at(Outputs& outputs) override {
    for (const std::string& input : options_.inputs) outputs.input(render::input_file(input));
    if (options_.sample > 0) {
      sheet_ = outputs.add("--output", options_.output, render::sheet_kind());
    } else {
      // A store is replaced only by what is made of the same: src/jobs/render/shards.h.
      outputs.take_name("--output", options_.output);
    }
  }
  OutputKind json_kind() const override {
    return {"the result of millrace render", Readers::everyone,
            json_result("render", {"charts", "drawn", "gaps", "bytes", "unusable"})};
  }

  ExitCode run(RunContext& context) override {
    options_.settle();
    if (options_.output.empty()) {
      throw Failure(ErrorCode::usage, "an output is needed", "-o",
                    options_.sample > 0 ? "for example -o sheet.png" : "for example -o charts.h5");
    }
    const render::Summary summary =
        options_.sample > 0 ? render::draw_sheet(options_, sheet_, context) : render::run(options_, context);
    for (const Error& error : summary.unusable) say("not used: " + error.message());
    if (options_.sample > 0) {
      say(fmt::format("{} charts on {}", grouped(summary.charts), options_.output));
    } else if (summary.drawn == 0 && summary.drawing_seconds == 0) {
      say(fmt::format("{} is finished: {} charts, made of the same; nothing to do", options_.output,
                      grouped(summary.charts)));
    } else {
      say(fmt::format("{} charts in {}, {}/s, {}: {}", grouped(summary.charts), duration_text(summary.seconds),
                      rate_text(static_cast<double>(summary.drawn) / std::max(summary.seconds, 1e-9)),
                      to_text(Bytes{summary.bytes}), options_.output));
      say(fmt::format("drawn in {:.2f} s, put together in {:.2f} s, last sync {:.2f} s", summary.drawing_seconds,
                      summary.joining_seconds, summary.syncing_seconds));
      if (summary.drawn < summary.charts) {
        say(fmt::format("{} charts were there from an earlier run", grouped(summary.charts - summary.drawn)));
      }
    }
    say_of_series(summary);
    if (summary.gaps > 0) say(fmt::format("{} rows have no price: gaps", grouped(summary.gaps)));
    if (common().verbose) say(context.trace.verdict());
    if (!json()) return summary.unusable.empty() ? ExitCode::done : ExitCode::partial;
    nlohmann::ordered_json unusable = nlohmann::ordered_json::array();
    for (const Error& error : summary.unusable) {
      unusable.push_back({{"path", utf8_for_display(error.subject)}, {"reason", error.what}});
    }
    json().write(nlohmann::ordered_json{{kJsonMark, "render"},
                                        {"charts", summary.charts},
                                        {"drawn", summary.drawn},
                                        {"gaps", summary.gaps},
                                        {"series", summary.series.all},
                                        {"series_undated", summary.series.undated},
                                        {"series_sorted", summary.series.sorted},
                                        {"series_short", summary.series.short_ones},
                                        {"repeats_left_out", summary.repeats},
                                        {"bytes", summary.bytes},
                                        {"unusable", unusable}}
                     .dump(1) +
                 "\n");
    return summary.unusable.empty() ? ExitCode::done : ExitCode::partial;
  }

 private:
  // What was done to the series, and what could not be known about them.
  void say_of_series(const render::Summary& summary) {
    const auto& series = summary.series;
    if (series.undated > 0) {
      say(fmt::format("no date was understood in {} of {} series: nothing tells whether their rows go from old to new",
                      grouped(series.undated), grouped(series.all)));
    }
    if (series.sorted > 0)
      say(fmt::format("{} of {} series were sorted by date", grouped(series.sorted), grouped(series.all)));
    if (summary.repeats > 0)
      say(fmt::format("{} rows were left out: others have the same time", grouped(summary.repeats)));
    if (series.short_ones > 0) {
      say(fmt::format("{} of {} series are shorter than a window: no chart is of them", grouped(series.short_ones),
                      grouped(series.all)));
    }
  }

  render::Options options_;
  Output sheet_;
};

}  // namespace

std::unique_ptr<Command> make_render_command(CLI::App& parent) { return std::make_unique<RenderCommand>(parent); }

}  // namespace millrace::cli
