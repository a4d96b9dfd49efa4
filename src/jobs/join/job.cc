#include "src/jobs/join/job.h"

#include <fmt/format.h>

#include "src/base/text.h"
#include "src/jobs/join/run.h"

namespace millrace::join {
namespace {

class JoinJob : public Job {
 public:
  Arguments arguments() override {
    return {"CODES.npy", "codes: uint64 [n], or uint8 [n, 8 or 32]", &inputs_, true, false};
  }
  std::vector<DeviceKind> devices() const override { return {DeviceKind::cuda, DeviceKind::opencl}; }
  void describe(Settings& settings) override { join::describe(settings, options_); }

  void look_at(Outputs& outputs) override {
    options_.codes = inputs_.at(0);
    outputs.input(options_.codes);
    // An array has no place for a mark.
    const OutputKind array{"pairs", Readers::everyone, {}};
    files_.pairs = outputs.add("--output", options_.output, array);
    if (options_.collapsed && files_.pairs) {
      files_.nodes = outputs.add("--output", nodes_path(options_.output), array);
    }
  }
  OutputKind json_kind() const override {
    return {"the result of millrace join", Readers::everyone,
            json_result("join", {"codes", "nodes", "pairs", "collapsed_pairs", "algorithm", "why"})};
  }

  Plan plan(RunContext& context) override { return join::plan(options_, files_, context); }

  Result run(RunContext& context, const Print& print) override {
    const Summary summary = join::run(options_, files_, context);
    print(fmt::format("{}\n", summary.pairs));
    Result out;
    out.summary = {
        fmt::format("{} pairs within {} bits among {} codes of {} bits ({} different)", grouped(summary.pairs),
                    options_.radius, grouped(summary.rows), summary.bits, grouped(summary.nodes)),
        fmt::format("{}: {}", summary.algorithm, summary.why),
        fmt::format("joined in {:.3f} s, {} codes/s; {:.3f} s with reading and writing", summary.join_seconds,
                    rate_text(summary.rows_per_second), summary.seconds)};
    out.json = [summary] {
      return json_pieces({{kJsonMark, "join"},
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
  std::vector<std::string> inputs_;
  Options options_;
  Files files_;
};

}  // namespace

std::unique_ptr<Job> make_job() { return std::make_unique<JoinJob>(); }

}  // namespace millrace::join
