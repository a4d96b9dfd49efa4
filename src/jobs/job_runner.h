// Input: a job, the values of its options, and the caller's callbacks.
// Output: a plan, or a result with a report on the device; the JSON and the trace, if requested.
// Never: reads a command line, prints, or keeps any state for another run.
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

// Options that all jobs share, from the command line as from the library.
struct RunningOptions {
  DeviceRequest device;
  AcceleratorOptions accelerator;
  long long batch = 0;
  long long threads = 0;
  Bytes memory;
  bool plan = false;
  std::string json;
  std::string trace;
  bool overwrite = false;
  SandboxMode sandbox = SandboxMode::rare;
};

// The outcome of sandboxing this process.
struct SandboxReport {
  bool is_enforced = false;
  std::string how;                         // "Landlock 7, seccomp"; or why all or part of it is not enforced
  std::vector<std::string> reads, writes;  // files and folders as the user named them; folders
};
// Sandboxes the process, if it belongs to the caller alone: afterwards it can access only the files that the outputs
// name.
using EnterSandbox = std::function<SandboxReport(const OutputRegistry&)>;

// Describes these options under the heading "Running".
void describe_running(Settings& settings, RunningOptions& options);
// Returns the description of an option for callers of the library.
JobOption described(const Settings::Entry& entry);

// Throws Failure(unavailable) in a child of fork() whose parent has had an executor. Called by all code that needs more
// than the calling thread.
void throw_if_forked_behind_threads();

class JobRunner {
 public:
  // Describes the job's options in `settings()`, followed by the running options under "Running".
  JobRunner(std::string name, std::unique_ptr<Job> job);
  ~JobRunner();
  JobRunner(const JobRunner&) = delete;
  JobRunner& operator=(const JobRunner&) = delete;

  const std::string& name() const { return name_; }
  Job& job() { return *job_; }
  // Options to be set before start(). The caller sets values, and may add options of its own.
  Settings& settings() { return settings_; }
  const RunningOptions& running() const { return running_; }

  // Checks the inputs and outputs, and reserves memory, threads and a device. `config` is the file that options came
  // from, or empty. `cancel` is polled until this object is destroyed. `enter_sandbox` is called for --sandbox all,
  // before a second thread is started.
  void start(const CancelToken& cancel, const ProgressTarget& progress, const std::string& config,
             const EnterSandbox& enter_sandbox = nullptr);

  // Runs the job, or only plans it. Call one of them, once, after start().
  Plan plan();
  Result run(const PrintLines& print);
  // True if --json names an output.
  bool writes_json() const { return static_cast<bool>(json_); }
  // Returns the result's JSON as strings, and also writes it to the output of --json, if there is one. Call it once.
  std::vector<std::string> write_json(const Result& result);
  void write_json(const Plan& plan) const;
  void write_trace() const;

  RunContext& context() { return *context_; }
  // Reason why the CPU replaces the requested device; empty if it does not.
  const std::string& device_note() const { return device_note_; }
  // Description of the part of --sandbox all that could not be enforced; empty if all of it is.
  const std::string& sandbox_note() const { return sandbox_note_; }

 private:
  DeviceRequest device_wish() const;
  void sandbox(const OutputRegistry& outputs, const EnterSandbox& enter_sandbox);

  const std::string name_;
  const std::unique_ptr<Job> job_;
  Settings settings_;
  RunningOptions running_;
  OutputTarget json_, trace_file_;
  std::string device_note_, sandbox_note_;
  SandboxReport sandbox_report_;
  // Resources of a run, in the order of their construction.
  std::optional<Budget> budget_;
  std::optional<Trace> trace_;
  std::optional<Executor> executor_;
  std::unique_ptr<Accelerator> accelerator_;
  std::unique_ptr<RunContext> context_;
};

}  // namespace millrace
