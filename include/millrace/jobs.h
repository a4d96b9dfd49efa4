// Input: a job's name, its arguments and its options, as text.
// Output: the files that the command of that name writes, and its result as JSON.
// Never: writes to stdout, reads a command line, or interferes with another run; several may run in one process. Urgent
// messages during a job are lines on stderr.
//
// Jobs and their options are those of the program (`millrace JOB --help`); describe_jobs() lists them. Environment
// variables apply as they do there (MILLRACE_THREADS).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/cancel.h"
#include "millrace/error.h"
#include "millrace/export.h"

namespace millrace {

struct JobOption {
  std::string name;        // "max-pixels"
  std::string value_name;  // "N"; empty for a switch, whose value is "true" or "false"
  std::string help;        // one sentence, without a full stop
  std::string group;       // heading under which the help shows it
  std::string initial;     // default value as text
  bool repeatable = false;
};

struct JobDescription {
  std::string name;   // "render"; "dedupe apply"
  std::string about;  // one sentence, without a full stop
  // Positional arguments on the command line.
  std::string argument_name, argument_help;
  bool argument_required = true, many_arguments = true;
  std::vector<JobOption> options;
};

MILLRACE_API std::vector<JobDescription> describe_jobs();

struct JobRequest {
  std::string job;
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::vector<std::string>>> options;  // by name; repeatable ones have several
  std::string config;                                                     // path of a YAML file with options, or empty
};

// Progress of one stage of a job.
struct JobProgress {
  std::string stage;
  std::uint64_t done = 0, total = 0;  // items; `total` may be an estimate, and is 0 if unknown
  std::uint64_t bytes = 0;            // 0 if the stage does not count bytes
};

struct JobWatch {
  const CancelToken* cancel = nullptr;  // polled until run_job() returns
  // Called about five times a second and at the end of each stage, by a thread of the job. Must not throw.
  std::function<void(const JobProgress&)> progress;
};

struct JobResult {
  ExitCode exit_code = ExitCode::done;  // done, or partial if some inputs could not be used
  std::string json;                     // JSON that --json writes; with "-" as its file it is written only here
  std::string printed;                  // data that the program would write to stdout
  std::vector<std::string> summary;     // lines for a person
  std::vector<std::string> warnings;
};

// Runs a job. With the option "plan" it does no work: `json` and `printed` are the plan. Throws Failure. usage: the
// job, an option or a value does not exist. cancelled: the run was stopped. unavailable: the process is a child of
// fork() whose parent has run work of this library.
MILLRACE_API JobResult run_job(const JobRequest& request, const JobWatch& watch = {});

}  // namespace millrace
