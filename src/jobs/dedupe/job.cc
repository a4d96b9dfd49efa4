#include "src/jobs/dedupe/job.h"

#include <fmt/format.h>

#include "src/base/log.h"
#include "src/base/stopwatch.h"
#include "src/base/text.h"
#include "src/jobs/dedupe/page/duplicates_page.h"
#include "src/jobs/dedupe/report.h"
#include "src/jobs/dedupe/stages/check_stage.h"
#include "src/jobs/dedupe/stages/compare_stage.h"
#include "src/jobs/dedupe/stages/read_stage.h"
#include "src/jobs/inventory_file.h"

namespace millrace::dedupe {
namespace {

class DedupeJob : public Job {
 public:
  // The subcommands need no folder.
  Arguments arguments() override { return {"DIR", "folders and pictures", &options_.folders, false}; }
  std::vector<DeviceKind> devices() const override { return {DeviceKind::cuda, DeviceKind::opencl}; }
  void describe(Settings& settings) override { dedupe::describe(settings, options_); }

  void register_files(OutputRegistry& outputs) override {
    for (const std::string& file : catalog_files(catalog_path(options_.catalog))) outputs.add_kept_file(file);
    for (const auto* folders : {&options_.folders, &options_.reference}) {
      for (const std::string& folder : *folders) outputs.add_input_folder(folder, is_input);
    }
    // Links and mounts give a picture names outside the folders, so no output replaces a picture anywhere.
    outputs.never_replace(is_input);
    validate_stage_options();
    if (!options_.inventory.empty()) {
      outputs.add_input(options_.inventory);
      outputs.add_read_folder("/");  // the list names the files
    }
    for (const std::string& folder : options_.from) {
      outputs.add_input_folder(folder, [](const std::string&) { return true; });
    }
    // Only output with the same input fingerprint is replaced: src/pipeline/checkpoint/checkpoint.h.
    if (!options_.output.empty()) outputs.add_store("--output", options_.output);
    csv_ = outputs.add("--csv", options_.csv, csv_kind());
    page_ = outputs.add("--report", options_.report, page_kind());
    if (!page_ || page_.is_stream()) return;
    outputs.reserve_path("--report", DuplicatesPage::thumbs_folder(page_));
    DuplicatesPage::verify_thumbs_folder(page_);
  }
  OutputKind json_kind() const override { return dedupe::json_kind(); }

  Plan plan(RunContext& context) override {
    check_folders();
    if (options_.stage == SearchStage::read) return plan_reading(options_, context);
    Catalog catalog(catalog_path(options_.catalog), catalog_key(), access(context));
    return dedupe::plan(options_, catalog, context);
  }

  Result run(RunContext& context, const PrintLines&) override {
    check_folders();
    if (options_.stage == SearchStage::read) return run_read_stage(context);
    if (options_.stage == SearchStage::compare) return run_compare_stage(context);
    if (options_.stage == SearchStage::check) return run_check_stage(context);
    const Stopwatch watch;
    Catalog catalog(catalog_path(options_.catalog), catalog_key(), access(context));
    spdlog::info("catalog {}", escape_unprintable(catalog_path(options_.catalog)));
    found_ = dedupe::run(options_, catalog, context);
    if (csv_) csv_.write(csv_of(found_));
    if (page_) write_page(found_, options_, catalog, page_, context);
    found_.seconds = watch.seconds();
    Result out;
    out.summary.push_back(summary_of(found_));
    out.summary.back().pop_back();
    if (page_) {
      out.summary.push_back(fmt::format("page for review: {}", escape_unprintable(options_.report)));
      if (!options_.catalog.empty()) {
        out.summary.push_back(
            fmt::format("to apply its decisions: millrace dedupe apply decisions.json --action trash --catalog {}",
                        escape_unprintable(options_.catalog)));
      }
    }
    if (!page_ && !csv_ && !found_.groups.empty())
      out.unless_json = "to list the groups, add --report FILE, --csv FILE or --json FILE";
    if (context.sandbox == SandboxMode::all) out.summary.push_back(context.helpers.describe_cpu_time());
    out.json = [this, &context] { return json_of(found_, context.executor); };
    out.exit_code = found_.library.unreadable.empty() ? ExitCode::done : ExitCode::partial;
    return out;
  }

 private:
  CatalogAccess access(const RunContext& context) const {
    return make_catalog_access(context, options_.trust_files ? Trust::files : Trust::checked);
  }

  // Checks the options before any output is made.
  void validate_stage_options() const {
    const auto refuse = [](const char* option, const char* what, const char* remedy) {
      throw Failure(ErrorCode::usage, what, option, remedy);
    };
    const bool all = options_.stage == SearchStage::all;
    if (!all && options_.output.empty()) refuse("--stage", "a stage needs an output folder", "add -o FOLDER");
    if (all && options_.share)
      refuse("--part", "only a stage can be divided into shards", "add, for example, --stage read -o FOLDER");
    if (all && !options_.output.empty()) {
      refuse("--output", "only a stage writes an output folder",
             "add --stage read; for the result of a search, use --report, --csv or --json");
    }
    if (!all && !(options_.report.empty() && options_.csv.empty()))
      refuse("--stage", "a stage does not form groups", "remove --report and --csv");
    if (!options_.inventory.empty()) refuse_walking(options_.files);
    if (options_.stage == SearchStage::read && !options_.from.empty())
      refuse("--from", "the read stage does not import other stages", "remove --from");
    if (all || options_.stage == SearchStage::read) return;
    if (!options_.verify) refuse("--stage", "--no-verify leaves this stage nothing to do", "remove --no-verify");
    if (options_.stage == SearchStage::check && options_.check == CheckMode::thumbnail)
      refuse("--stage", "--look thumbnail makes no detailed checks", "remove --look thumbnail");
    // SQLite's log does not work across machines.
    if (options_.share && options_.catalog.empty()) {
      refuse("--catalog", "each run of a divided stage needs its own catalog",
             "name a file on a local disk, such as --catalog /tmp/part-K/catalog.sqlite");
    }
  }

  // Reports the state of a stage's output.
  void report_output_state(const StoredLines& stored, const char* unit, Result& out) const {
    const std::string output = escape_unprintable(options_.output);
    if (stored.before) {
      out.summary = {fmt::format("{} is already complete for these inputs and options: nothing to do", output)};
    } else if (stored.published) {
      out.summary.push_back(fmt::format("{}: {} {}, {}; import it into a search with --from {}", output,
                                        group_digits(stored.rows), unit, format_bytes(Bytes{stored.output_bytes}),
                                        output));
    } else {
      out.summary.push_back(describe_missing_shards(options_.share, stored.missing, stored.parts, options_.output));
    }
  }

  Result run_read_stage(RunContext& context) const {
    const Stopwatch watch;
    const ReadStageResult done = make_read_shards(options_, context);
    const double seconds = watch.seconds();
    Result out;
    out.summary = {
        fmt::format("{} pictures read in {}, {}/s{}", group_digits(done.pictures), format_duration(seconds),
                    format_rate(static_cast<double>(done.pictures) / std::max(seconds, 1e-9)),
                    done.unusable > 0 ? fmt::format("; {} could not be read", group_digits(done.unusable)) : "")};
    report_output_state(done.stored, "files", out);
    if (context.sandbox == SandboxMode::all) out.summary.push_back(context.helpers.describe_cpu_time());
    out.json = [done] {
      return make_json_strings({{kJsonMark, "dedupe read"},
                                {"pictures", done.pictures},
                                {"unusable", done.unusable},
                                {"bytes", done.bytes},
                                {"published", done.stored.published}});
    };
    out.exit_code = done.unusable > 0 ? ExitCode::partial : ExitCode::done;
    return out;
  }

  Result run_compare_stage(RunContext& context) const {
    Catalog catalog(catalog_path(options_.catalog), catalog_key(), access(context));
    const CompareStageResult done = make_compare_shards(options_, catalog, context);
    Result out;
    out.summary = {fmt::format("{} pairs of {} pictures look alike{}", group_digits(done.links),
                               group_digits(done.pictures), options_.share ? " in the shards of this run" : "")};
    report_output_state(done.stored, "shards", out);
    if (context.sandbox == SandboxMode::all) out.summary.push_back(context.helpers.describe_cpu_time());
    out.json = [done] {
      return make_json_strings({{kJsonMark, "dedupe compare"},
                                {"pictures", done.pictures},
                                {"links", done.links},
                                {"published", done.stored.published}});
    };
    return out;
  }

  Result run_check_stage(RunContext& context) const {
    Catalog catalog(catalog_path(options_.catalog), catalog_key(), access(context));
    const CheckStageResult done = make_check_shards(options_, catalog, context);
    Result out;
    out.summary = {fmt::format("{} detailed checks in {} sets of similar pictures{}", group_digits(done.compared_pairs),
                               group_digits(done.sets),
                               done.undecodable_pairs > 0
                                   ? fmt::format("; {} pairs could not be checked, and the search will try them again",
                                                 group_digits(done.undecodable_pairs))
                                   : "")};
    report_output_state(done.stored, "shards", out);
    if (context.sandbox == SandboxMode::all) out.summary.push_back(context.helpers.describe_cpu_time());
    out.json = [done] {
      return make_json_strings({{kJsonMark, "dedupe look"},
                                {"sets", done.sets},
                                {"looked_at", done.compared_pairs},
                                {"unseen", done.undecodable_pairs},
                                {"published", done.stored.published}});
    };
    out.exit_code = done.undecodable_pairs > 0 ? ExitCode::partial : ExitCode::done;
    return out;
  }

  void check_folders() const {
    if (options_.folders.empty()) {
      throw Failure(ErrorCode::usage, "no folder is named", "dedupe",
                    "name at least one, or see millrace dedupe --help");
    }
  }

  DedupeOptions options_;
  OutputTarget page_, csv_;
  SearchResult found_;
};

}  // namespace

std::unique_ptr<Job> make_job() { return std::make_unique<DedupeJob>(); }

}  // namespace millrace::dedupe
