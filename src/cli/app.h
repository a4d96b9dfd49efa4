// Input: the command line.
// Output: the job's results, its summary on stderr, and an exit code.
// Never: depends on what a job does.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/base/log.h"
#include "src/jobs/all_jobs.h"
#include "src/jobs/job_runner.h"

namespace millrace::cli {

// Options that the terminal adds to those of a run.
struct TerminalOptions {
  ProgressStyle progress = ProgressStyle::automatic;
  LogLevel log_level = LogLevel::warn;
  bool quiet = false;
  bool verbose = false;
};

// Token that SIGINT and SIGTERM cancel; a second signal ends the program at once.
CancelToken& interrupt_token();

// A job as a subcommand: a flag for each option, and the steps that all jobs share once the options are resolved.
class Command {
 public:
  Command(CLI::App& parent, const std::string& name, const std::string& about, std::unique_ptr<Job> job);
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  CLI::App& app() { return app_; }

  // Returns every option with its value, applied from file, environment and flags, in this order.
  const Settings& resolve_options();

  // Resolves the options, plans or runs the job, and prints the result. A Failure propagates to run_program().
  ExitCode execute();

 private:
  void add_flags();
  void print_plan(const Plan& plan) const;
  ExitCode run();
  // Prints data on stdout, unless --json writes to stdout.
  void print(std::string_view text) const;
  // Prints a line for a person at the end of a job, on stderr, unless --quiet.
  void print_line(const std::string& line) const;

  CLI::App& app_;
  JobRunner runner_;
  TerminalOptions terminal_;
  std::string config_;
  bool print_config_ = false;
  bool print_options_ = false;
  std::vector<std::pair<std::string, std::shared_ptr<std::vector<std::string>>>> given_;
  std::vector<std::pair<std::string, std::shared_ptr<std::vector<bool>>>> switches_;
};

// Commands of all jobs, in the order of the help; a subcommand of a command comes after it.
using Commands = std::vector<std::unique_ptr<Command>>;
void add_jobs(CLI::App& parent, Commands& commands);
CLI::App& add_job(CLI::App& under, const ListedJob& job, Commands& commands);
// Restricts an option to exactly one value, so that the words after it are not taken as further values.
CLI::Option* require_one_value(CLI::Option* option);

void add_doctor_command(CLI::App& parent, std::function<ExitCode()>& chosen);
void add_tune_command(CLI::App& parent, std::function<ExitCode()>& chosen);

// Runs the program; never throws.
int run_program(int argc, char** argv);

}  // namespace millrace::cli
