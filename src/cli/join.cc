#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "src/base/text.h"
#include "src/cli/app.h"
#include "src/jobs/join/run.h"

namespace millrace::cli {
namespace {

class JoinCommand : public Command {
 public:
  explicit JoinCommand(CLI::App& parent) : Command(parent, "join", "every pair of codes within a Hamming distance") {
    app().add_option("CODES.npy", options_.codes, "codes: uint64 [n], or uint8 [n, 8 or 32]")->required();
    join::describe(settings(), options_);
    add_flags();
  }

 protected:
  std::string plan(RunContext& context) override { return join::describe_plan(options_, {pairs_, nodes_}, context); }

  void look_at(Outputs& outputs) override {
    outputs.input(options_.codes);
    // An array has no place for a mark.
    const OutputKind array{"pairs", Readers::everyone, {}};
    pairs_ = outputs.add("--output", options_.output, array);
    if (options_.collapsed && pairs_) nodes_ = outputs.add("--output", join::nodes_path(options_.output), array);
  }
  OutputKind json_kind() const override {
    return {"the result of millrace join", Readers::everyone,
            json_result("join", {"codes", "nodes", "pairs", "collapsed_pairs", "algorithm", "why"})};
  }

  ExitCode run(RunContext& context) override {
    const join::Result result = join::run(options_, {pairs_, nodes_}, context);
    fmt::print("{}\n", result.pairs);
    say(fmt::format("{} pairs within {} bits among {} codes of {} bits ({} different)", grouped(result.pairs),
                    options_.radius, grouped(result.rows), result.bits, grouped(result.nodes)));
    say(fmt::format("{}: {}", result.algorithm, result.why));
    say(fmt::format("joined in {:.3f} s, {} codes/s; {:.3f} s with reading and writing", result.join_seconds,
                    rate_text(result.rows_per_second), result.seconds));
    if (common().verbose) say(context.trace.verdict());
    if (json()) {
      json().write(nlohmann::ordered_json{{kJsonMark, "join"},
                                          {"codes", result.rows},
                                          {"nodes", result.nodes},
                                          {"pairs", result.pairs},
                                          {"collapsed_pairs", result.collapsed_pairs},
                                          {"algorithm", result.algorithm},
                                          {"why", result.why}}
                       .dump(1) +
                   "\n");
    }
    return ExitCode::done;
  }

 private:
  join::Options options_;
  Output pairs_, nodes_;
};

}  // namespace

std::unique_ptr<Command> make_join_command(CLI::App& parent) { return std::make_unique<JoinCommand>(parent); }

}  // namespace millrace::cli
