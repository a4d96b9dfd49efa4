#include "src/jobs/segment/job.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/jobs/segment/inputs.h"
#include "src/jobs/segment/run.h"
#include "src/report/json_path.h"

namespace millrace::segment {
namespace {

Json json_of(const SegmentSummary& summary) {
  Json pictures = Json::array();
  for (const PictureResult& each : summary.pictures) {
    Json one;
    add_path(one, each.path);
    one.update(json_of(each, summary.setup));
    pictures.push_back(std::move(one));
  }
  Json out = {{kJsonMark, "segment"},
              {"pictures", pictures},
              {"unusable", unusable_files_to_json(summary.unusable)},
              {"taken", summary.already_complete},
              {"resumed", summary.resumed},
              {"elsewhere", summary.elsewhere},
              {"missing", summary.missing},
              {"windows", summary.windows},
              {"left_out", summary.left_out},
              {"runtime", summary.runtime},
              {"precision", summary.precision},
              {"seconds", summary.seconds}};
  if (summary.precision_decision) out["agreement"] = json_of(*summary.precision_decision);
  out["memory"] = {{"peak", summary.peak.count}, {"networks", summary.network.count}};
  return out;
}

class SegmentJob : public Job {
 public:
  Arguments arguments() override { return {"PATH", "picture files and folders", &options_.inputs, false}; }
  void describe(Settings& settings) override { segment::describe(settings, options_); }

  void register_files(OutputRegistry& outputs) override {
    for (const std::string& input : options_.inputs)
      outputs.add_input_folder(input, [this](const std::string& path) { return is_input(options_, path); });
    for (const std::string& model : options_.models) {
      outputs.add_input(model);
      outputs.add_input(model::card_path_of(model));
      outputs.add_read_folder(folder_of(model));  // its external weight files
    }
    for (const std::string& card : options_.cards) outputs.add_input(card);
    if (!options_.roi.empty()) outputs.add_input_folder(options_.roi, [](const std::string&) { return true; });
    if (!options_.output.empty()) outputs.reserve_path("--output", options_.output);
  }
  OutputKind json_kind() const override {
    return {"the result of millrace segment", ReadAccess::everyone, make_json_recognizer("segment", {})};
  }

  Plan plan(RunContext& context) override { return segment::plan(options_, context); }

  Result run(RunContext& context, const PrintLines&) override {
    Result out;
    if (options_.describe) {
      // The model may also be a positional argument: --describe model.onnx.
      if (options_.models.empty()) options_.models = options_.inputs;
      if (options_.models.size() != 1)
        throw Failure(ErrorCode::usage, "exactly one model is needed", "--model", "name the ONNX file to describe");
      out.listing = model::describe(model::open_model(options_.models.front()).onnx);
      out.json = [] { return make_json_strings({{kJsonMark, "segment"}}); };
      return out;
    }
    const SegmentSummary summary = segment::run(options_, context);
    for (const Error& error : summary.unusable) out.summary.push_back("skipped: " + error.message());
    for (const PictureResult& each : summary.pictures) {
      if (!each.damage.empty())
        out.summary.push_back(
            fmt::format("damaged: {}: {}", escape_unprintable(each.path), escape_unprintable(each.damage)));
      if (each.field && !each.field->doubts.empty())
        out.summary.push_back(fmt::format("check {}: {}", escape_unprintable(each.path),
                                          escape_unprintable(fmt::format("{}", fmt::join(each.field->doubts, ", ")))));
    }
    out.summary.push_back(
        fmt::format("{} in {}, {} windows, {} windows/s with {} in {}: {}",
                    summary.pictures.size() == 1 ? "1 picture" : group_digits(summary.pictures.size()) + " pictures",
                    format_duration(summary.seconds), group_digits(summary.windows),
                    format_rate(static_cast<double>(summary.windows) / std::max(summary.seconds, 1e-9)),
                    summary.runtime, summary.precision, escape_unprintable(options_.output)));
    if (summary.pictures.empty() && summary.unusable.empty() && summary.elsewhere == 0)
      out.summary.push_back(
          "no pictures were found: docs/formats.md lists the file name endings that are searched for");
    const auto say = [&](std::uint64_t count, const std::string& what) {
      if (count > 0) out.summary.push_back(fmt::format(fmt::runtime(what), group_digits(count)));
    };
    say(summary.already_complete, "{} were already complete");
    say(summary.resumed, "{} were resumed from an earlier run");
    say(summary.left_out, "{} windows were skipped");
    say(summary.spooled, "{} cannot be decoded row by row, and were decoded to a scratch file first");
    say(summary.damaged, "{} are damaged: a part is missing, and the mask covers only the rest");
    say(summary.of_several, "{} have several pages or frames: only the first was used");
    say(summary.deep, "{} have more than 8 bits per sample: they were reduced to 8 bits for the network");
    say(summary.transparent, "{} have transparent pixels: transparency was ignored");
    say(summary.cut, "{} have contours that were cut along a row, because they have too many corners");
    say(summary.elsewhere, "{} are being processed by another run");
    say(summary.missing, "{} belong to other shards and are not in pictures.csv: they are unfinished, or were skipped");
    if (summary.precision_decision)
      out.summary.push_back(fmt::format("{}: {}", summary.precision, summary.precision_decision->why));
    const auto doubtful = std::count_if(summary.pictures.begin(), summary.pictures.end(),
                                        [](const auto& each) { return each.field && !each.field->doubts.empty(); });
    say(static_cast<std::uint64_t>(doubtful), "{} photographs are doubtful: check them");
    if (!summary.report.empty()) out.summary.push_back("report: " + escape_unprintable(summary.report));
    if (!summary.cache_failure.empty())
      out.summary.push_back("the compiled model was not cached: " + summary.cache_failure);
    if (!summary.is_last) out.summary.push_back("other runs are still at work: the last one writes pictures.csv");
    if (!summary.unusable.empty())
      out.summary.push_back(fmt::format("{} files were skipped", group_digits(summary.unusable.size())));
    out.json = [summary] { return make_json_strings(json_of(summary)); };
    out.exit_code = summary.unusable.empty() ? ExitCode::done : ExitCode::partial;
    return out;
  }

 private:
  Options options_;
};

}  // namespace

std::unique_ptr<Job> make_job() { return std::make_unique<SegmentJob>(); }

}  // namespace millrace::segment
