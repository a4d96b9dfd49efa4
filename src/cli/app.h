// Enters: the command line.
// Leaves: a job run, its summary on stderr, and an exit code.
// Never: knows what a job does.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/base/settings.h"
#include "src/io/output/output.h"
#include "src/pipeline/chain.h"

namespace millrace::cli {

// The options that every job has.
struct CommonOptions {
  std::string device = "auto";
  long long threads = 0;
  Bytes memory;
  bool plan = false;
  std::string progress = "auto";
  std::string json;
  std::string trace;
  std::string log_level = "warn";
  bool quiet = false;
  bool verbose = false;
  bool overwrite = false;
};

// Set by SIGINT; a second SIGINT ends the program at once.
CancelToken& interrupt();

// One subcommand: its options, and what it does once they are known.
class Command {
 public:
  Command(CLI::App& parent, const std::string& name, const std::string& about);
  virtual ~Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  CLI::App& app() { return app_; }
  Settings& settings() { return settings_; }
  const CommonOptions& common() const { return common_; }

  // Resolves the options, then plans or runs. Failure goes up to main.
  ExitCode execute();

 protected:
  // Call at the end of the constructor: makes a flag of every described option.
  void add_flags();
  // Says what the job reads and what it writes, but for --json and --trace: before the work, with --plan too.
  virtual void look_at(Outputs& outputs) = 0;
  // What --json writes.
  virtual OutputKind json_kind() const = 0;
  virtual ExitCode run(RunContext& context) = 0;
  virtual std::string plan(RunContext& context) = 0;

  // A line for a person at the end of a job, on stderr unless --quiet.
  void say(const std::string& line) const;
  // Where the summary object of --json goes; none where it was not asked for.
  const Output& json() const { return json_; }

  CommonOptions common_;

 private:
  CLI::App& app_;
  Settings settings_;
  Output json_, trace_;
  std::string config_;
  bool print_config_ = false;
  bool print_options_ = false;
  std::vector<std::pair<std::string, std::shared_ptr<std::vector<std::string>>>> given_;
  std::vector<std::pair<std::string, std::shared_ptr<std::vector<bool>>>> switches_;
};

std::unique_ptr<Command> make_hash_command(CLI::App& parent);
std::unique_ptr<Command> make_join_command(CLI::App& parent);
std::unique_ptr<Command> make_render_command(CLI::App& parent);
void add_dedupe_commands(CLI::App& parent, std::vector<std::unique_ptr<Command>>& commands);
// apply, undo and purge, below `dedupe`.
void add_dedupe_apply_commands(CLI::App& dedupe, std::vector<std::unique_ptr<Command>>& commands);
// Options with a value take one, wherever they stand: the words behind it are not theirs.
CLI::Option* one_value(CLI::Option* option);

void add_doctor_command(CLI::App& parent, std::function<ExitCode()>& chosen);

// Runs the program; never throws.
int run_program(int argc, char** argv);

}  // namespace millrace::cli
