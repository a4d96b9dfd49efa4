#include <fmt/format.h>
#include <unistd.h>

#include <set>

#include "src/cli/app.h"
#include "src/jobs/dedupe/apply/apply.h"
#include "src/jobs/dedupe/library.h"

namespace millrace::cli {
namespace {

// What apply, undo and purge have in common: a list of files as the result.
class ApplyingCommand : public Command {
 public:
  using Command::Command;

 protected:
  virtual dedupe::Applied carry_out(bool go, RunContext& context) = 0;
  virtual bool go() const = 0;

  void add_go(bool& value) {
    settings().heading("Deciding");
    settings().add_consent("go", "do it; without it nothing is changed", value);
  }
  void add_trust(bool& value) { settings().add_consent("trust-files", dedupe::kTrustFilesHelp, value); }
  // What such a run acts on is no output of it: what is named, and whatever is a picture or goes with one.
  void protect(Outputs& outputs, std::set<std::string> paths) const {
    if (common().json.empty() && common().trace.empty()) return;
    outputs.input_folder("/", [paths = std::move(paths)](const std::string& path) {
      return paths.count(path) > 0 || dedupe::is_input(path);
    });
  }
  static Trust trust_of(bool files) { return files ? Trust::files : Trust::checked; }

  OutputKind json_kind() const override {
    return {"the result of millrace dedupe apply, undo or purge", Readers::owner,
            json_result("apply", {"command", "action", "go", "id", "journal?", "journal_base64?", "interrupted",
                                  "items", "totals", "notes"})};
  }

  // --plan: the dry run's list.
  std::string plan(RunContext& context) override {
    const dedupe::Applied applied = carry_out(false, context);
    return dedupe::table_of(applied) + dedupe::summary_of(applied) + "\n";
  }

  ExitCode run(RunContext& context) override {
    const dedupe::Applied applied = carry_out(go(), context);
    // The list is data, unless the JSON is asked for in its place.
    if (common().json != "-" && !common().quiet) write_all(STDOUT_FILENO, dedupe::table_of(applied), "standard output");
    if (json()) json().write(dedupe::json_of(applied));
    say(dedupe::summary_of(applied));
    return applied.exit_code();
  }
};

class ApplyCommand : public ApplyingCommand {
 public:
  explicit ApplyCommand(CLI::App& parent) : ApplyingCommand(parent, "apply", "carry out what was decided on the page") {
    app().add_option("DECISIONS", options_.decisions, "decisions.json, as the page saves it")->required();
    add_go(options_.go);
    dedupe::describe(settings(), options_);
    add_trust(options_.trust_files);
    add_flags();
  }

 protected:
  bool go() const override { return options_.go; }
  void look_at(Outputs& outputs) override {
    for (const std::string& file : catalog_files(dedupe::catalog_file(options_.catalog))) outputs.input(file);
    outputs.input(options_.decisions);
    if (!options_.journal.empty()) outputs.input(options_.journal);
    protect(outputs, dedupe::paths_in_decisions(options_.decisions));
  }
  dedupe::Applied carry_out(bool go, RunContext& context) override {
    options_.go = go;
    return dedupe::apply(options_, context);
  }

 private:
  dedupe::ApplyOptions options_;
};

class UndoCommand : public ApplyingCommand {
 public:
  explicit UndoCommand(CLI::App& parent) : ApplyingCommand(parent, "undo", "take back what apply did") {
    app().add_option("JOURNAL", journal_, "the journal that apply named, or its id")->required();
    add_go(go_);
    add_trust(trust_files_);
    add_flags();
  }

 protected:
  bool go() const override { return go_; }
  void look_at(Outputs& outputs) override {
    outputs.input(dedupe::journal_file(journal_));
    protect(outputs, dedupe::paths_in_journal(journal_, trust_of(trust_files_)));
  }
  dedupe::Applied carry_out(bool go, RunContext& context) override {
    return dedupe::undo(journal_, go, trust_of(trust_files_), context);
  }

 private:
  std::string journal_;
  bool go_ = false, trust_files_ = false;
};

class PurgeCommand : public ApplyingCommand {
 public:
  explicit PurgeCommand(CLI::App& parent)
      : ApplyingCommand(parent, "purge", "destroy what apply --action delete set aside") {
    app().add_option("JOURNAL", journal_, "the journal that apply named, or its id")->required();
    add_go(go_);
    add_trust(trust_files_);
    add_flags();
  }

 protected:
  bool go() const override { return go_; }
  void look_at(Outputs& outputs) override {
    outputs.input(dedupe::journal_file(journal_));
    protect(outputs, dedupe::paths_in_journal(journal_, trust_of(trust_files_)));
  }
  dedupe::Applied carry_out(bool go, RunContext& context) override {
    return dedupe::purge(journal_, go, trust_of(trust_files_), context);
  }

 private:
  std::string journal_;
  bool go_ = false, trust_files_ = false;
};

}  // namespace

void add_dedupe_apply_commands(CLI::App& dedupe, std::vector<std::unique_ptr<Command>>& commands) {
  commands.push_back(std::make_unique<ApplyCommand>(dedupe));
  commands.push_back(std::make_unique<UndoCommand>(dedupe));
  commands.push_back(std::make_unique<PurgeCommand>(dedupe));
  // `dedupe photos apply` is a slip: either the job's own arguments, or one of these.
  for (const auto& command : commands) {
    if (command->app().get_parent() != &dedupe) continue;
    command->app().parse_complete_callback([&dedupe, name = command->app().get_name()] {
      for (const CLI::Option* option : dedupe.get_options()) {
        if (option->count() == 0) continue;
        throw CLI::ValidationError(
            fmt::format("what belongs to {0} stands behind it; a folder of that name is written ./{0}", name));
      }
    });
  }
}

}  // namespace millrace::cli
