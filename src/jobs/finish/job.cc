#include "src/jobs/finish/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/pipeline/checkpoint/finish.h"

namespace millrace::finish_shards {
namespace {

class FinishJob : public Job {
 public:
  Arguments arguments() override {
    return {"OUTPUT", "the output (-o) that the runs with --part were given", &outputs_, true, false};
  }
  void describe(Settings& settings) override {
    settings.add_list("from", "FOLDER", "import shards from a folder OUTPUT.shards on another disk; repeatable", from_);
    settings.add_switch("check", "verify every file of a finished OUTPUT against its recorded checksums", check_);
  }
  void register_files(OutputRegistry& outputs) override {
    if (check_) {
      // The shards that an HDF5 file refers to are beside the file itself, even if the output is a link to it.
      const std::string output = real_path(outputs_.at(0)).value_or(outputs_.at(0));
      outputs.add_read_folder(std::filesystem::is_directory(output) ? output : folder_of(output));
      return;
    }
    for (const std::string& folder : from_) {
      outputs.add_input(folder);
      outputs.add_write_folder(folder);  // it is locked while it is read
    }
    // A store is replaced only by one of the same provenance: src/pipeline/checkpoint/checkpoint.h.
    outputs.reserve_path("OUTPUT", outputs_.at(0));
  }
  OutputKind json_kind() const override {
    return {"the result of millrace finish", ReadAccess::everyone,
            make_json_recognizer("finish", {"rows", "shards", "imported", "bytes"})};
  }
  millrace::Plan plan(RunContext& context) override {
    if (check_) {
      millrace::Plan out;
      out.lines = {{"verify", outputs_.at(0) + ", every file against its recorded checksum"}};
      out.memory = {{"the program itself", 16_MiB}};
      out.allowed = context.budget.limit();
      return out;
    }
    const ShardFindings found = find_shards(outputs_.at(0), from_);
    millrace::Plan out;
    out.lines = {{found.unit, group_digits(found.rows)},
                 {"shards", fmt::format("{}, of which {} are missing", group_digits(found.parts),
                                        group_digits(found.missing.size()))}};
    out.figures = {{"rows", found.rows}, {"shards", found.parts}, {"missing", found.missing}};
    if (!found.array.empty()) {
      out.lines.push_back({"missing array tasks", found.array});
      out.figures["array"] = found.array;
    }
    out.memory = {{"the program itself", 16_MiB}};
    out.allowed = context.budget.limit();
    return out;
  }

  Result run(RunContext& context, const PrintLines&) override {
    const std::string& output = outputs_.at(0);
    if (check_) return run_check(output, context);
    const FinishResult done = finish(output, from_, [&] { context.throw_if_cancelled(); });
    Result out;
    out.summary.push_back(done.before
                              ? fmt::format("{} is already complete: nothing to do", output)
                              : fmt::format("{}: {} {} of {} shards, {}", output, group_digits(done.rows), done.unit,
                                            group_digits(done.parts), format_bytes(Bytes{done.bytes})));
    if (done.imported > 0) out.summary.push_back(fmt::format("{} shards were imported", group_digits(done.imported)));
    out.json = [done] {
      return make_json_strings({{kJsonMark, "finish"},
                                {"rows", done.rows},
                                {"shards", done.parts},
                                {"imported", done.imported},
                                {"bytes", done.bytes}});
    };
    return out;
  }

 private:
  Result run_check(const std::string& output, RunContext& context) const {
    if (!from_.empty())
      throw Failure(ErrorCode::usage, "it cannot be combined with --check", "--from", "leave out one of them");
    const ChecksumResult checked = verify_output(output, [&] { context.throw_if_cancelled(); });
    Result out;
    std::error_code error;
    const std::string folder = std::filesystem::is_directory(output, error) ? output : folder_of(output);
    constexpr std::size_t kMaxNamed = 100;
    for (std::size_t k = 0; k < std::min(kMaxNamed, checked.damaged.size()); ++k) {
      const std::string path = join_path(folder, checked.damaged[k]);
      out.summary.push_back((std::filesystem::exists(path, error) ? "damaged: " : "missing: ") +
                            escape_unprintable(path));
    }
    if (checked.damaged.size() > kMaxNamed)
      out.summary.push_back(fmt::format("and {} more", group_digits(checked.damaged.size() - kMaxNamed)));
    if (!checked.damaged.empty())
      out.summary.push_back(
          fmt::format("remove {} and run the command that made it again", escape_unprintable(output)));
    out.summary.push_back(fmt::format("{}: {} files checked, {}, {} damaged", escape_unprintable(output),
                                      group_digits(checked.files), format_bytes(Bytes{checked.bytes}),
                                      group_digits(checked.damaged.size())));
    out.json = [checked] {
      auto damaged = Json::array();
      for (const std::string& name : checked.damaged) damaged.push_back(replace_invalid_utf8(name));
      return make_json_strings(
          {{kJsonMark, "finish"}, {"checked", checked.files}, {"bytes", checked.bytes}, {"damaged", damaged}});
    };
    out.exit_code = checked.damaged.empty() ? ExitCode::done : ExitCode::failed;
    return out;
  }

  std::vector<std::string> outputs_, from_;
  bool check_ = false;
};

}  // namespace

std::unique_ptr<Job> make_job() { return std::make_unique<FinishJob>(); }

}  // namespace millrace::finish_shards
