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

  void look_at(Outputs& outputs) override {
    for (const std::string& input : options_.inputs) {
      outputs.input_folder(input, [this](const std::string& path) { return is_input(options_, path); });
    }
    if (!options_.inventory.empty()) {
      refuse_walking(options_.files);
      outputs.input(options_.inventory);
      outputs.reads("/");  // the inventory decides which files are read
    }
    // A store is replaced only by one of the same provenance: src/pipeline/checkpoint/checkpoint.h.
    if (!options_.output.empty()) outputs.take_store("--output", options_.output);
    if (options_.share && options_.output.empty()) {
      throw Failure(ErrorCode::usage, "runs that share their work need an output", "--part", "say -o FOLDER");
    }
  }
  OutputKind json_kind() const override {
    return {"the result of millrace hash", Readers::everyone, json_result("hash", {})};
  }

  Plan plan(RunContext& context) override { return hash::plan(options_, context); }

  Result run(RunContext& context, const Print& print) override {
    const bool stored = !options_.output.empty();
    const Summary summary = stored ? store(options_, context) : hash::run(options_, context, print);
    Result out;
    const bool nothing_to_do = stored && summary.stored.before;
    if (!nothing_to_do)
      out.summary.push_back(
          fmt::format("{} pictures hashed in {}, {}/s{}{}", grouped(summary.pictures), duration_text(summary.seconds),
                      rate_text(static_cast<double>(summary.pictures) / std::max(summary.seconds, 1e-9)),
                      summary.unreadable > 0 ? fmt::format("; {} could not be used", grouped(summary.unreadable)) : "",
                      summary.damaged > 0 ? fmt::format("; {} damaged", grouped(summary.damaged)) : ""));
    if (nothing_to_do) {
      out.summary.push_back(fmt::format("{} is finished: {} lines, made of the same; nothing to do",
                                        printable(options_.output), grouped(summary.stored.rows)));
    } else if (stored) {
      tell_of_output(summary, out.summary);
    }
    if (context.sandbox == Sandbox::all) out.summary.push_back(context.helpers.cost());
    out.json = [summary, part = static_cast<bool>(options_.share)] {
      Json json = {{kJsonMark, "hash"},
                   {"pictures", summary.pictures},
                   {"unreadable", summary.unreadable},
                   {"damaged", summary.damaged},
                   {"bytes", summary.bytes}};
      if (part) json["published"] = summary.stored.published;
      return json_pieces(json);
    };
    out.exit_code = summary.unreadable > 0 ? ExitCode::partial : ExitCode::done;
    return out;
  }

 private:
  void tell_of_output(const Summary& summary, std::vector<std::string>& out) const {
    const std::uint64_t here = summary.pictures + summary.unreadable;
    if (!summary.stored.published) {
      out.push_back(words_of_missing(options_.share, summary.stored.missing, summary.stored.parts, options_.output));
      return;
    }
    out.push_back(fmt::format("{}: {} lines, {}", printable(options_.output), grouped(summary.stored.rows),
                              to_text(Bytes{summary.stored.output_bytes})));
    if (here < summary.stored.rows)
      out.push_back(fmt::format("{} were there from other runs", grouped(summary.stored.rows - here)));
  }

  Options options_;
};

}  // namespace

std::unique_ptr<Job> make_job() { return std::make_unique<HashJob>(); }

}  // namespace millrace::hash
