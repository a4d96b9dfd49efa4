#include "src/jobs/hash/job.h"

#include <fmt/format.h>

#include "src/base/text.h"
#include "src/jobs/hash/run.h"
#include "src/jobs/inventory_file.h"

namespace millrace::hash {
namespace {

class HashJob : public Job {
 public:
  Arguments arguments() override { return {"PATH", "pictures and folders", &options_.inputs, false}; }
  void describe(Settings& settings) override { hash::describe(settings, options_); }

  void register_files(OutputRegistry& outputs) override {
    for (const std::string& input : options_.inputs) {
      outputs.add_input_folder(input, [this](const std::string& path) { return is_input(options_, path); });
    }
    if (!options_.inventory.empty()) {
      refuse_walking(options_.files);
      outputs.add_input(options_.inventory);
      outputs.add_read_folder("/");  // the inventory decides which files are read
    }
    // A store is replaced only by one of the same provenance: src/pipeline/checkpoint/checkpoint.h.
    if (!options_.output.empty()) outputs.add_store("--output", options_.output);
    if (options_.share && options_.output.empty()) {
      throw Failure(ErrorCode::usage, "it needs an output", "--part", "add -o FOLDER");
    }
  }
  OutputKind json_kind() const override {
    return {"the result of millrace hash", ReadAccess::everyone, make_json_recognizer("hash", {})};
  }

  Plan plan(RunContext& context) override { return hash::plan(options_, context); }

  Result run(RunContext& context, const PrintLines& print) override {
    const bool stored = !options_.output.empty();
    const HashSummary summary = stored ? store(options_, context) : hash::run(options_, context, print);
    Result out;
    const bool nothing_to_do = stored && summary.stored.before;
    if (!nothing_to_do)
      out.summary.push_back(fmt::format(
          "{} pictures hashed in {}, {}/s{}{}", group_digits(summary.pictures), format_duration(summary.seconds),
          format_rate(static_cast<double>(summary.pictures) / std::max(summary.seconds, 1e-9)),
          summary.unreadable > 0 ? fmt::format("; {} failed", group_digits(summary.unreadable)) : "",
          summary.damaged > 0 ? fmt::format("; {} damaged", group_digits(summary.damaged)) : ""));
    if (nothing_to_do) {
      out.summary.push_back(
          fmt::format("{} is already complete: {} lines with the same options and pictures; nothing to do",
                      escape_unprintable(options_.output), group_digits(summary.stored.rows)));
    } else if (stored) {
      report_output(summary, out.summary);
    }
    if (context.sandbox == SandboxMode::all) out.summary.push_back(context.helpers.describe_cpu_time());
    out.json = [summary, part = static_cast<bool>(options_.share)] {
      Json json = {{kJsonMark, "hash"},
                   {"pictures", summary.pictures},
                   {"unreadable", summary.unreadable},
                   {"damaged", summary.damaged},
                   {"bytes", summary.bytes}};
      if (part) json["published"] = summary.stored.published;
      return make_json_strings(json);
    };
    out.exit_code = summary.unreadable > 0 ? ExitCode::partial : ExitCode::done;
    return out;
  }

 private:
  void report_output(const HashSummary& summary, std::vector<std::string>& out) const {
    const std::uint64_t here = summary.pictures + summary.unreadable;
    if (!summary.stored.published) {
      out.push_back(
          describe_missing_shards(options_.share, summary.stored.missing, summary.stored.parts, options_.output));
      return;
    }
    out.push_back(fmt::format("{}: {} lines, {}", escape_unprintable(options_.output),
                              group_digits(summary.stored.rows), format_bytes(Bytes{summary.stored.output_bytes})));
    if (here < summary.stored.rows)
      out.push_back(fmt::format("{} lines were made by other runs", group_digits(summary.stored.rows - here)));
  }

  HashJobOptions options_;
};

}  // namespace

std::unique_ptr<Job> make_job() { return std::make_unique<HashJob>(); }

}  // namespace millrace::hash
