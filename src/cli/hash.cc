#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "src/cli/app.h"
#include "src/io/file/atomic_file.h"
#include "src/io/image/helper_client.h"
#include "src/jobs/hash/run.h"

namespace millrace::cli {
namespace {

class HashCommand : public Command {
 public:
  explicit HashCommand(CLI::App& parent) : Command(parent, "hash", "perceptual hashes of pictures") {
    app().add_option("PATH", options_.inputs, "pictures and folders")->required();
    hash::describe(settings(), options_);
    add_flags();
  }

 protected:
  std::string plan(RunContext& context) override { return hash::plan(options_, context); }

  void look_at(Outputs& outputs) override {
    for (const std::string& input : options_.inputs) {
      outputs.input_folder(input, [this](const std::string& path) { return hash::is_input(options_, path); });
    }
  }
  OutputKind json_kind() const override {
    return {"the result of millrace hash", Readers::everyone, json_result("hash", {})};
  }

  ExitCode run(RunContext& context) override {
    const hash::Summary summary =
        hash::run(options_, context, [](std::string_view text) { write_all(STDOUT_FILENO, text, "standard output"); });
    say(fmt::format("{} pictures hashed in {}, {}/s{}{}", grouped(summary.pictures), duration_text(summary.seconds),
                    rate_text(static_cast<double>(summary.pictures) / std::max(summary.seconds, 1e-9)),
                    summary.unreadable > 0 ? fmt::format("; {} could not be used", grouped(summary.unreadable)) : "",
                    summary.damaged > 0 ? fmt::format("; {} damaged", grouped(summary.damaged)) : ""));
    if (options_.sandbox == "all") say(cost_of_sandbox());
    if (common().verbose) say(context.trace.verdict());
    if (json()) {
      json().write(nlohmann::ordered_json{{kJsonMark, "hash"},
                                          {"pictures", summary.pictures},
                                          {"unreadable", summary.unreadable},
                                          {"damaged", summary.damaged},
                                          {"bytes", summary.bytes}}
                       .dump(1) +
                   "\n");
    }
    return summary.unreadable > 0 ? ExitCode::partial : ExitCode::done;
  }

 private:
  hash::Options options_;
};

}  // namespace

std::unique_ptr<Command> make_hash_command(CLI::App& parent) { return std::make_unique<HashCommand>(parent); }

}  // namespace millrace::cli
