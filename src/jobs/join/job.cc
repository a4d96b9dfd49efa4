#include "src/jobs/join/job.h"

#include <fmt/format.h>

#include "src/base/text.h"
#include "src/jobs/join/block_join.h"
#include "src/jobs/join/run.h"
#include "src/pipeline/checkpoint/output_lock.h"

namespace millrace::join {
namespace {

class JoinJob : public Job {
 public:
  Arguments arguments() override {
    return {"CODES.npy", "codes: uint64 [n], or uint8 [n, 8 or 32]", &inputs_, true, false};
  }
  std::vector<DeviceKind> devices() const override { return {DeviceKind::cuda, DeviceKind::opencl}; }
  void describe(Settings& settings) override { join::describe(settings, options_); }

  void register_files(OutputRegistry& outputs) override {
    options_.codes = inputs_.at(0);
    outputs.add_input(options_.codes);
    if (options_.has_blocks()) return register_block_files(outputs);
    // A .npy array cannot hold a mark.
    const OutputKind array{"pairs", ReadAccess::everyone, {}};
    files_.pairs = outputs.add("--output", options_.output, array);
    if (options_.collapsed && files_.pairs) {
      files_.nodes = outputs.add("--output", nodes_path(options_.output), array);
    }
  }
  OutputKind json_kind() const override {
    return {"the result of millrace join", ReadAccess::everyone,
            make_json_recognizer("join", {"codes", "nodes", "pairs", "collapsed_pairs", "algorithm", "why"})};
  }

  Plan plan(RunContext& context) override {
    return options_.has_blocks() ? plan_block_join(options_, context) : join::plan(options_, files_, context);
  }

  Result run(RunContext& context, const PrintLines& print) override {
    if (options_.has_blocks()) return run_blocks(context, print);
    const OutputLock lock(files_.pairs && !files_.pairs.is_stream() ? files_.pairs.path() : "");
    const JoinSummary summary = join::run(options_, files_, context);
    print(fmt::format("{}\n", summary.pairs));
    Result out;
    out.summary = {
        fmt::format("{} pairs within {} bits among {} codes of {} bits ({} different)", group_digits(summary.pairs),
                    options_.radius, group_digits(summary.rows), summary.bits, group_digits(summary.nodes)),
        fmt::format("{}: {}", summary.algorithm, summary.why),
        fmt::format("joined in {:.3f} s, {} codes/s; {:.3f} s with reading and writing", summary.join_seconds,
                    format_rate(summary.rows_per_second), summary.seconds)};
    out.json = [summary] {
      return make_json_strings({{kJsonMark, "join"},
                                {"codes", summary.rows},
                                {"nodes", summary.nodes},
                                {"pairs", summary.pairs},
                                {"collapsed_pairs", summary.collapsed_pairs},
                                {"algorithm", summary.algorithm},
                                {"why", summary.why}});
    };
    return out;
  }

 private:
  void register_block_files(OutputRegistry& outputs) const {
    if (options_.collapsed) {
      throw Failure(ErrorCode::usage, "it cannot be combined with --block or --part", "--collapsed",
                    "leave out --collapsed, or --block and --part");
    }
    if (options_.share && options_.output.empty()) {
      throw Failure(ErrorCode::usage, "it needs an output", "--part", "add -o FOLDER");
    }
    const std::string folder = options_.output.substr(0, options_.output.find_last_not_of('/') + 1);
    if (folder.ends_with(".npy")) {
      throw Failure(ErrorCode::usage, "with --block or --part the output is a folder", options_.output,
                    "use -o " + folder.substr(0, folder.size() - 4));
    }
    // A store is replaced only by one of the same provenance: src/pipeline/checkpoint/checkpoint.h.
    if (!options_.output.empty()) outputs.add_store("--output", options_.output);
  }

  Result run_blocks(RunContext& context, const PrintLines& print) const {
    const JoinSummary summary = run_block_join(options_, context);
    Result out;
    if (summary.published) print(fmt::format("{}\n", summary.pairs));
    if (summary.already_complete) {
      out.summary.push_back(
          fmt::format("{} is already complete: {} pairs with the same options and codes; nothing to do",
                      escape_unprintable(options_.output), group_digits(summary.pairs)));
    } else {
      out.summary.push_back(fmt::format("{} of {} tasks ({} blocks of {} rows) joined in {:.3f} s; {:.3f} s in total",
                                        group_digits(summary.tasks_done), group_digits(summary.tasks),
                                        group_digits(summary.blocks), group_digits(summary.block), summary.join_seconds,
                                        summary.seconds));
      if (!summary.why.empty()) out.summary.push_back(fmt::format("{}: {}", summary.algorithm, summary.why));
      if (summary.published) {
        out.summary.push_back(fmt::format("{} pairs within {} bits among {} codes of {} bits",
                                          group_digits(summary.pairs), options_.radius, group_digits(summary.rows),
                                          summary.bits));
      } else {
        out.summary.push_back(describe_missing_shards(options_.share, summary.missing, summary.tasks, options_.output));
      }
    }
    out.json = [summary] {
      Json json = {{kJsonMark, "join"},      {"codes", summary.rows},         {"nodes", nullptr},
                   {"pairs", nullptr},       {"collapsed_pairs", nullptr},    {"algorithm", summary.algorithm},
                   {"why", summary.why},     {"block", summary.block},        {"blocks", summary.blocks},
                   {"tasks", summary.tasks}, {"published", summary.published}};
      if (summary.published) json["pairs"] = summary.pairs;
      return make_json_strings(json);
    };
    return out;
  }

  std::vector<std::string> inputs_;
  Options options_;
  JoinOutputs files_;
};

}  // namespace

std::unique_ptr<Job> make_job() { return std::make_unique<JoinJob>(); }

}  // namespace millrace::join
