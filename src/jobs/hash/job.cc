#include "src/jobs/hash/job.h"

#include <fmt/format.h>

#include "src/base/text.h"
#include "src/jobs/hash/run.h"

namespace millrace::hash {
namespace {

class HashJob : public Job {
 public:
  Arguments arguments() override { return {"PATH", "pictures and folders", &options_.inputs}; }
  void describe(Settings& settings) override { hash::describe(settings, options_); }

  void look_at(Outputs& outputs) override {
    for (const std::string& input : options_.inputs) {
      outputs.input_folder(input, [this](const std::string& path) { return is_input(options_, path); });
    }
  }
  OutputKind json_kind() const override {
    return {"the result of millrace hash", Readers::everyone, json_result("hash", {})};
  }

  Plan plan(RunContext& context) override { return hash::plan(options_, context); }

  Result run(RunContext& context, const Print& print) override {
    const Summary summary = hash::run(options_, context, print);
    Result out;
    out.summary.push_back(
        fmt::format("{} pictures hashed in {}, {}/s{}{}", grouped(summary.pictures), duration_text(summary.seconds),
                    rate_text(static_cast<double>(summary.pictures) / std::max(summary.seconds, 1e-9)),
                    summary.unreadable > 0 ? fmt::format("; {} could not be used", grouped(summary.unreadable)) : "",
                    summary.damaged > 0 ? fmt::format("; {} damaged", grouped(summary.damaged)) : ""));
    if (options_.files.sandbox == Sandbox::all) out.summary.push_back(context.helpers.cost());
    out.json = [summary] {
      return json_pieces({{kJsonMark, "hash"},
                          {"pictures", summary.pictures},
                          {"unreadable", summary.unreadable},
                          {"damaged", summary.damaged},
                          {"bytes", summary.bytes}});
    };
    out.exit_code = summary.unreadable > 0 ? ExitCode::partial : ExitCode::done;
    return out;
  }

 private:
  Options options_;
};

}  // namespace

std::unique_ptr<Job> make_job() { return std::make_unique<HashJob>(); }

}  // namespace millrace::hash
