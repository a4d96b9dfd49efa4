// Input: a job's name, what it works on, and its options, as text.
// Output: what the command of that name leaves: its files, and its result as JSON.
// Never: writes to stdout, reads a command line, or sees another run; several may be under way in one process. What
//   has to be known while a job runs is a line on stderr.
//
// Jobs and their options are those of the program (`millrace JOB --help`); describe_jobs() lists them. Variables of the
// environment hold as they do there (MILLRACE_THREADS).
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
  std::string group;       // under which the help shows it
  std::string initial;     // as text
  bool repeatable = false;
};

struct JobDescription {
  std::string name;   // "render"; "dedupe apply"
  std::string about;  // one sentence, without a full stop
  // What stands on a command line without a flag.
  std::string argument_name, argument_help;
  bool argument_required = true, many_arguments = true;
  std::vector<JobOption> options;
};

MILLRACE_API std::vector<JobDescription> describe_jobs();

struct JobRequest {
  std::string job;
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::vector<std::string>>> options;  // by name; several values of repeatable ones
  std::string config;  // a YAML file that options come from; or empty
};

// Of one stage of a job.
struct JobProgress {
  std::string stage;
  std::uint64_t done = 0, total = 0;  // items; `total` may be a guess, and 0 where there is none
  std::uint64_t bytes = 0;            // 0 where it does not count them
};

struct JobWatch {
  const CancelToken* cancel = nullptr;  // looked at until run_job() returns
  // Called about five times a second, and at the end of each stage, by a thread of the job. Must not throw.
  std::function<void(const JobProgress&)> progress;
};

struct JobResult {
  ExitCode exit_code = ExitCode::done;  // done, or partial where some inputs could not be used
  std::string json;                     // what --json writes; "-" as its file writes it nowhere else
  std::string printed;                  // data that the program writes to stdout
  std::vector<std::string> summary;     // lines for a person
  std::vector<std::string> warnings;
};

// With the option "plan" nothing is done: `json` and `printed` are the plan. Throws Failure: ErrorCode::usage for a
// job, an option or a value that there is not, ErrorCode::cancelled where it was stopped, ErrorCode::unavailable in a
// child of fork() whose parent has run work of this library.
MILLRACE_API JobResult run_job(const JobRequest& request, const JobWatch& watch = {});

}  // namespace millrace
