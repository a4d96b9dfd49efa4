// Input: a job, the values of its options, and whoever called it.
// Output: a plan, or a result with what devices did in it; the JSON and the trace that were asked for.
// Never: reads a command line, prints, or keeps anything for another run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "include/millrace/jobs.h"
#include "src/device/accelerator.h"
#include "src/device/device.h"
#include "src/jobs/job.h"

namespace millrace {

// The options that every job has, whoever runs it.
struct RunningOptions {
  DeviceWish device;
  AcceleratorOptions accelerator;
  long long batch = 0;
  long long threads = 0;
  Bytes memory;
  bool plan = false;
  std::string json;
  std::string trace;
  bool overwrite = false;
  Sandbox sandbox = Sandbox::rare;
};

// The outcome of sandboxing this process.
struct SandboxReport {
  bool is_enforced = false;
  std::string how;                         // "Landlock 7, seccomp"; or why all or part of it is not enforced
  std::vector<std::string> reads, writes;  // paths as they were named; folders
};
// Sandboxes the process of a caller that has it to itself: only what the outputs name stays within its reach.
using EnterSandbox = std::function<SandboxReport(const Outputs&)>;

// Under the heading "Running".
void describe_running(Settings& settings, RunningOptions& options);
// As a caller of the library is told of it.
JobOption described(const Settings::Entry& entry);

// Failure(unavailable) in a child of fork() whose parent has had an executor: where more is needed than the thread that
// calls.
void throw_if_forked_behind_threads();

class JobRunner {
 public:
  // Describes the job's options in `settings()`, and those of running behind them under "Running".
  JobRunner(std::string name, std::unique_ptr<Job> job);
  ~JobRunner();
  JobRunner(const JobRunner&) = delete;
  JobRunner& operator=(const JobRunner&) = delete;

  const std::string& name() const { return name_; }
  Job& job() { return *job_; }
  // Whoever calls gives values, and may add options of its own, before start().
  Settings& settings() { return settings_; }
  const RunningOptions& running() const { return running_; }

  // Looks at what is read and written, and takes memory, threads and a device. `config` is a file that options came
  // from, or empty; `cancel` is looked at until this is gone. `enter_sandbox` is called for --sandbox all, before there
  // is a second thread.
  void start(const CancelToken& cancel, const ProgressTo& progress, const std::string& config,
             const EnterSandbox& enter_sandbox = nullptr);

  // Behind start(), one of them, once.
  Plan plan();
  Result run(const Print& print);
  // What --json and --trace name, if anything.
  bool writes_json() const { return static_cast<bool>(json_); }
  // The result as JSON, in pieces; written, too, where --json asks for it. Once.
  std::vector<std::string> write_json(const Result& result);
  void write_json(const Plan& plan) const;
  void write_trace() const;

  RunContext& context() { return *context_; }
  // Why the CPU stands for the device that was asked for; empty where it does not.
  const std::string& device_note() const { return device_note_; }
  // The part of --sandbox all that is missing, in words; empty where nothing is.
  const std::string& sandbox_note() const { return sandbox_note_; }

 private:
  DeviceWish device_wish() const;
  void sandbox(const Outputs& outputs, const EnterSandbox& enter_sandbox);

  const std::string name_;
  const std::unique_ptr<Job> job_;
  Settings settings_;
  RunningOptions running_;
  Output json_, trace_file_;
  std::string device_note_, sandbox_note_;
  SandboxReport sandbox_report_;
  // What a run works with, in the order in which it is made.
  std::optional<Budget> budget_;
  std::optional<Trace> trace_;
  std::optional<Executor> executor_;
  std::unique_ptr<Accelerator> accelerator_;
  std::unique_ptr<RunContext> context_;
};

}  // namespace millrace
