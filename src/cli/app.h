// Input: the command line.
// Output: a job run, its summary on stderr, and an exit code.
// Never: knows what a job does.
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

// What a terminal adds to the options of running.
struct TerminalOptions {
  ProgressStyle progress = ProgressStyle::automatic;
  LogLevel log_level = LogLevel::warn;
  bool quiet = false;
  bool verbose = false;
};

// Set by SIGINT or SIGTERM; a second one ends the program at once.
CancelToken& interrupt();

// A job as a subcommand: a flag for each of its options, and what every job does once they are known.
class Command {
 public:
  Command(CLI::App& parent, const std::string& name, const std::string& about, std::unique_ptr<Job> job);
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  CLI::App& app() { return app_; }

  // Every option with its value, by file, environment and flags, in this order.
  const Settings& resolve_options();

  // Resolves the options, then plans or runs, and shows what came of it. Failure goes up to main.
  ExitCode execute();

 private:
  void add_flags();
  void show(const Plan& plan) const;
  ExitCode run();
  // Data for stdout, unless JSON takes its place.
  void print(std::string_view text) const;
  // A line for a person at the end of a job, on stderr unless --quiet.
  void say(const std::string& line) const;

  CLI::App& app_;
  JobRunner runner_;
  TerminalOptions terminal_;
  std::string config_;
  bool print_config_ = false;
  bool print_options_ = false;
  std::vector<std::pair<std::string, std::shared_ptr<std::vector<std::string>>>> given_;
  std::vector<std::pair<std::string, std::shared_ptr<std::vector<bool>>>> switches_;
};

// Every job, in the order of the help; what stands below another comes behind it.
using Commands = std::vector<std::unique_ptr<Command>>;
void add_jobs(CLI::App& parent, Commands& commands);
CLI::App& add_job(CLI::App& under, const ListedJob& job, Commands& commands);
// Options with a value take one, wherever they stand: the words behind it are not theirs.
CLI::Option* one_value(CLI::Option* option);

void add_doctor_command(CLI::App& parent, std::function<ExitCode()>& chosen);
void add_tune_command(CLI::App& parent, std::function<ExitCode()>& chosen);

// Runs the program; never throws.
int run_program(int argc, char** argv);

}  // namespace millrace::cli
