// Input: the job's options and the inputs that the user named.
// Output: the interface of all jobs: each gives a plan, or runs and gives a result, as data.
// Never: reads a command line, or decides how a plan or a result is shown.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/error.h"
#include "src/base/json.h"
#include "src/base/settings.h"
#include "src/base/sizes.h"
#include "src/device/device.h"
#include "src/io/output/output.h"
#include "src/pipeline/run_context.h"

namespace millrace {

// Estimate of a job's work, time and memory, made without running it.
struct Plan {
  // Line for the user, such as "output", "about 2 GiB (14 KiB a chart)". A line without a name is only its words.
  struct Line {
    std::string name, words;
  };
  // Estimated upper bound of the memory that one purpose holds at once.
  struct Need {
    std::string purpose;
    Bytes size;
  };

  std::string items;              // text with one line per item, for plans that list them
  std::vector<Line> lines;        // description of the work
  Json figures = Json::object();  // the same description for programs
  std::string device = "cpu";
  int threads = 0;              // 0 if the job computes nothing
  std::uint64_t in_flight = 0;  // items processed at once; 0 if the job has no pipeline
  std::vector<Need> memory;     // estimates that add up to the job's memory
  std::string more_memory;      // optional extra memory, in words, used if there is room
  Bytes allowed;                // limit set by --memory
  std::optional<double> seconds;
  std::string timed_step;  // the step that needs this time, such as "the decoding"

  Bytes total_memory() const;
};

// Returns the plan as one line of text per item, or as JSON: {"plan": {...}} under the job's own mark.
std::string text_of(const Plan& plan);
std::string json_of(const Plan& plan, std::string_view job);

// Result of a run, in addition to its output files.
struct Result {
  // Text for stdout, unless --quiet is given or JSON is printed instead.
  std::string listing;
  // Lines for the user.
  std::vector<std::string> summary;
  // Additional line, shown only if no JSON was requested.
  std::string unless_json;
  // Warning that is shown even if all other text is suppressed; empty if the run had no problem.
  std::string warning;
  // Returns the object for --json, as strings to be written one after the other; its first key is the job's mark.
  // Called at most once, while the job exists.
  std::function<std::vector<std::string>()> json;
  // `partial` if some inputs could not be used; the summary lists them.
  ExitCode exit_code = ExitCode::done;
};

// Returns the object as the single string that most results consist of.
std::vector<std::string> make_json_strings(const Json& object);
// Adds a key after all others of the object.
std::vector<std::string> add_key(std::vector<std::string> strings, std::string_view key, const Json& value);

// Receives data for stdout while a job runs, in whole lines.
using PrintLines = std::function<void(std::string_view)>;

class Job {
 public:
  // Positional arguments of the command line.
  struct Arguments {
    std::string name, help;
    std::vector<std::string>* values;
    bool required = true;
    bool many = true;
  };

  Job() = default;
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  virtual Arguments arguments() = 0;
  // True if register_files() names every file that a run reads or writes, so that the kernel can refuse access to all
  // others.
  virtual bool can_be_sandboxed() const { return true; }
  // Returns the kinds of device that the job supports besides the CPU.
  virtual std::vector<DeviceKind> devices() const { return {}; }
  virtual void describe(Settings& settings) = 0;
  // Registers all files that are read and written, except the JSON result. Called before the work, and before a plan.
  virtual void register_files(OutputRegistry& outputs) = 0;
  virtual OutputKind json_kind() const = 0;
  // Changes nothing. Throws a Failure if it can already be known that a run would fail.
  virtual Plan plan(RunContext& context) = 0;
  virtual Result run(RunContext& context, const PrintLines& print) = 0;
};

}  // namespace millrace
