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

  void look_at(Outputs& outputs) override {
    for (const std::string& input : options_.inputs) outputs.input_folder(input, is_input);
    if (!options_.output.empty()) outputs.take_name("--output", options_.output);
  }
  OutputKind json_kind() const override {
    return {"the result of millrace fundus", Readers::everyone, json_result("fundus", {})};
  }

  Plan plan(RunContext& context) override { return fundus::plan(options_, context); }

  Result run(RunContext& context, const Print&) override {
    const Summary summary = fundus::run(options_, context);
    Result out;
    for (const Error& error : summary.unusable) out.summary.push_back("not used: " + error.message());
    std::size_t doubtful = 0, damaged = 0;
    for (const Found& each : summary.photographs) {
      damaged += each.damage.empty() ? 0 : 1;
      if (each.field.doubts.empty()) continue;
      ++doubtful;
      out.summary.push_back(fmt::format("look at {}: {}", printable(each.path), fmt::join(each.field.doubts, ", ")));
    }
    out.summary.push_back(fmt::format(
        "{} photographs in {}, {}/s: {}", grouped(summary.photographs.size()), duration_text(summary.seconds),
        rate_text(static_cast<double>(summary.photographs.size()) / std::max(summary.seconds, 1e-9)),
        printable(options_.output)));
    if (summary.photographs.empty() && summary.unusable.empty())
      out.summary.emplace_back(
          "no pictures were found: files are taken by their endings, as docs/formats.md lists them");
    if (doubtful > 0) out.summary.push_back(fmt::format("{} are doubtful: look at them", grouped(doubtful)));
    if (damaged > 0) out.summary.push_back(fmt::format("{} are damaged: part of them is missing", grouped(damaged)));
    if (!summary.unusable.empty())
      out.summary.push_back(fmt::format("{} could not be used", grouped(summary.unusable.size())));
    out.json = [summary] {
      Json photographs = Json::array();
      for (const Found& each : summary.photographs) photographs.push_back(json_of(each));
      return json_pieces({{kJsonMark, "fundus"},
                          {"photographs", photographs},
                          {"unusable", json_of_unusable(summary.unusable)},
                          {"seconds", summary.seconds}});
    };
    out.exit_code = summary.unusable.empty() ? ExitCode::done : ExitCode::partial;
    return out;
  }

 private:
  Options options_;
};

}  // namespace

std::unique_ptr<Job> make_job() { return std::make_unique<FundusJob>(); }

}  // namespace millrace::fundus
