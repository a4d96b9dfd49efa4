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
  Arguments arguments() override { return {"PATH", "pictures and folders", &options_.inputs, false}; }
  void describe(Settings& settings) override { segment::describe(settings, options_); }

  void register_files(OutputRegistry& outputs) override {
    for (const std::string& input : options_.inputs)
      outputs.add_input_folder(input, [this](const std::string& path) { return is_input(options_, path); });
    for (const std::string& model : options_.models) {
      outputs.input(model);
      outputs.input(model::card_path_of(model));
      outputs.add_read_folder(folder_of(model));  // its external weight files
    }
    for (const std::string& card : options_.cards) outputs.input(card);
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
        throw Failure(ErrorCode::usage, "one model is needed", "--model", "name the ONNX file to describe");
      out.listing = model::describe(model::open_model(options_.models.front()).onnx);
      out.json = [] { return make_json_strings({{kJsonMark, "segment"}}); };
      return out;
    }
    const SegmentSummary summary = segment::run(options_, context);
    for (const Error& error : summary.unusable) out.summary.push_back("not used: " + error.message());
    for (const PictureResult& each : summary.pictures) {
      if (!each.damage.empty())
        out.summary.push_back(
            fmt::format("damaged: {}: {}", escape_unprintable(each.path), escape_unprintable(each.damage)));
      if (each.field && !each.field->doubts.empty())
        out.summary.push_back(fmt::format("look at {}: {}", escape_unprintable(each.path),
                                          escape_unprintable(fmt::format("{}", fmt::join(each.field->doubts, ", ")))));
    }
    out.summary.push_back(
        fmt::format("{} in {}, {} windows, {}/s by {} in {}: {}",
                    summary.pictures.size() == 1 ? "1 picture" : group_digits(summary.pictures.size()) + " pictures",
                    format_duration(summary.seconds), group_digits(summary.windows),
                    format_rate(static_cast<double>(summary.windows) / std::max(summary.seconds, 1e-9)),
                    summary.runtime, summary.precision, escape_unprintable(options_.output)));
    if (summary.pictures.empty() && summary.unusable.empty() && summary.elsewhere == 0)
      out.summary.push_back("no pictures were found: files are taken by their endings, as docs/formats.md lists them");
    const auto say = [&](std::uint64_t count, const std::string& what) {
      if (count > 0) out.summary.push_back(fmt::format(fmt::runtime(what), group_digits(count)));
    };
    say(summary.already_complete, "{} were done before");
    say(summary.resumed, "{} were gone on with where an earlier run had stopped");
    say(summary.left_out, "{} windows were left out");
    say(summary.spooled, "{} came whole, not in rows, and were decoded to a scratch file first");
    say(summary.damaged, "{} are damaged: part of the photograph is missing, and the mask is of what is there");
    say(summary.of_several, "{} have further pages or frames: the first of each was used");
    say(summary.deep, "{} have samples of more than 8 bits: the networks saw 8 of them");
    say(summary.transparent, "{} are transparent in places: the networks saw the colours that lie there");
    say(summary.cut, "{} have contours that are cut along a row, as they have too many corners to be followed at once");
    say(summary.elsewhere, "{} are being worked at by another run");
    say(summary.missing,
        "{} are left to other parts, and are not in pictures.csv: no run has made them yet, or they are of no use");
    if (summary.precision_decision)
      out.summary.push_back(fmt::format("{}: {}", summary.precision, summary.precision_decision->why));
    const auto doubtful = std::count_if(summary.pictures.begin(), summary.pictures.end(),
                                        [](const auto& each) { return each.field && !each.field->doubts.empty(); });
    say(static_cast<std::uint64_t>(doubtful), "{} are doubtful photographs: look at them");
    if (!summary.report.empty()) out.summary.push_back("to look through: " + escape_unprintable(summary.report));
    if (!summary.cache_failure.empty())
      out.summary.push_back("the compiled model is not kept: " + summary.cache_failure);
    if (!summary.is_last) out.summary.push_back("other parts are still at work: the last of them writes pictures.csv");
    if (!summary.unusable.empty())
      out.summary.push_back(fmt::format("{} could not be used", group_digits(summary.unusable.size())));
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
