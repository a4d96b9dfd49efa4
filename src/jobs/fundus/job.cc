#include "src/jobs/fundus/job.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/text.h"
#include "src/jobs/fundus/run.h"
#include "src/report/json_path.h"

namespace millrace::fundus {
namespace {

class FundusJob : public Job {
 public:
  Arguments arguments() override { return {"PATH", "photographs and folders of them", &options_.inputs}; }
  void describe(Settings& settings) override { fundus::describe(settings, options_); }

  void register_files(OutputRegistry& outputs) override {
    for (const std::string& input : options_.inputs) outputs.add_input_folder(input, is_input);
    if (!options_.output.empty()) outputs.reserve_path("--output", options_.output);
  }
  OutputKind json_kind() const override {
    return {"the result of millrace fundus", ReadAccess::everyone, make_json_recognizer("fundus", {})};
  }

  Plan plan(RunContext& context) override { return fundus::plan(options_, context); }

  Result run(RunContext& context, const PrintLines&) override {
    const FundusSummary summary = fundus::run(options_, context);
    Result out;
    for (const Error& error : summary.unusable) out.summary.push_back("skipped: " + error.message());
    std::size_t doubtful = 0, damaged = 0;
    for (const PhotographResult& each : summary.photographs) {
      damaged += each.damage.empty() ? 0 : 1;
      if (each.field.doubts.empty()) continue;
      ++doubtful;
      out.summary.push_back(
          fmt::format("check {}: {}", escape_unprintable(each.path), fmt::join(each.field.doubts, ", ")));
    }
    out.summary.push_back(fmt::format(
        "{} photographs in {}, {}/s: {}", group_digits(summary.photographs.size()), format_duration(summary.seconds),
        format_rate(static_cast<double>(summary.photographs.size()) / std::max(summary.seconds, 1e-9)),
        escape_unprintable(options_.output)));
    if (summary.photographs.empty() && summary.unusable.empty())
      out.summary.emplace_back(
          "no photographs were found: docs/formats.md lists the file name endings that are searched for");
    if (doubtful > 0) out.summary.push_back(fmt::format("{} are doubtful: check them", group_digits(doubtful)));
    if (damaged > 0)
      out.summary.push_back(fmt::format("{} are damaged: a part of them is missing", group_digits(damaged)));
    if (!summary.unusable.empty())
      out.summary.push_back(fmt::format("{} files were skipped", group_digits(summary.unusable.size())));
    out.json = [summary] {
      Json photographs = Json::array();
      for (const PhotographResult& each : summary.photographs) photographs.push_back(json_of(each));
      return make_json_strings({{kJsonMark, "fundus"},
                                {"photographs", photographs},
                                {"unusable", unusable_files_to_json(summary.unusable)},
                                {"seconds", summary.seconds}});
    };
    out.exit_code = summary.unusable.empty() ? ExitCode::done : ExitCode::partial;
    return out;
  }

 private:
  FundusOptions options_;
};

}  // namespace

std::unique_ptr<Job> make_job() { return std::make_unique<FundusJob>(); }

}  // namespace millrace::fundus
