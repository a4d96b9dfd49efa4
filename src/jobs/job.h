// Input: settings, and what a person named.
// Output: what every job is to whoever runs it: a plan, or a run with its result, as data.
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

// What a job would do and what it takes.
struct Plan {
  // For a person: "output", "about 2 GiB (14 KiB a chart)". One without a name stands alone.
  struct Line {
    std::string name, words;
  };
  // What is held at once for one purpose, at the most, about.
  struct Need {
    std::string purpose;
    Bytes size;
  };

  std::string items;              // a line an item, where a plan lists them
  std::vector<Line> lines;        // what would be done
  Json figures = Json::object();  // the same for a program
  std::string device = "cpu";
  int threads = 0;              // 0: the job computes nothing
  std::uint64_t in_flight = 0;  // items at once; 0 where none flow
  std::vector<Need> memory;     // all of it is what the job takes
  std::string more_memory;      // what may come on top where there is room, in words
  Bytes allowed;                // --memory
  std::optional<double> seconds;
  std::string seconds_of;  // what takes them: "the decoding"

  Bytes needed() const;
};

// A line each of what was planned; {"plan": {...}} under the job's own mark.
std::string text_of(const Plan& plan);
std::string json_of(const Plan& plan, std::string_view job);

// What a run leaves besides its outputs.
struct Result {
  // For stdout, unless --quiet or JSON takes its place.
  std::string listing;
  // Lines for a person.
  std::vector<std::string> summary;
  // One more, where no JSON was asked for.
  std::string unless_json;
  // What has to be said to whoever wants to hear nothing else; empty where all went well.
  std::string warning;
  // The object that --json writes, in pieces; its first key is the job's mark. Called at most once, while the job is
  // there.
  std::function<std::vector<std::string>()> json;
  // partial where some inputs could not be used; the summary names them.
  ExitCode exit_code = ExitCode::done;
};

// The one piece that most results are.
std::vector<std::string> json_pieces(const Json& object);
// Adds a key behind the others of that object.
std::vector<std::string> with_key(std::vector<std::string> pieces, std::string_view key, const Json& value);

// Data for stdout while a job runs: whole lines.
using Print = std::function<void(std::string_view)>;

class Job {
 public:
  // What stands on the command line without a flag.
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
  // True when look_at() names every file that a run reads or writes, so that the kernel can refuse the rest.
  virtual bool can_be_sandboxed() const { return true; }
  // The kinds of device that it has versions for, besides the CPU.
  virtual std::vector<DeviceKind> devices() const { return {}; }
  virtual void describe(Settings& settings) = 0;
  // Says what is read and adds what is written, but for the JSON of the result: before the work, with a plan too.
  virtual void look_at(Outputs& outputs) = 0;
  virtual OutputKind json_kind() const = 0;
  // Changes nothing. Failure where a run would fail for what can be known before it.
  virtual Plan plan(RunContext& context) = 0;
  virtual Result run(RunContext& context, const Print& print) = 0;
};

}  // namespace millrace
