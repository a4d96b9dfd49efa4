#include <fmt/format.h>

#include <set>

#include "src/base/text.h"
#include "src/jobs/dedupe/apply/apply.h"
#include "src/jobs/dedupe/job.h"
#include "src/jobs/dedupe/scan/library.h"

namespace millrace::dedupe {
namespace {

// Common base of apply, undo and purge: their result is a list of files.
class ApplyJobBase : public Job {
 public:
  Plan plan(RunContext& context) override {
    const ApplyReport applied = carry_out(false, context);
    Plan out;
    out.items = table_of(applied);
    out.lines.push_back({"", summary_of(applied)});
    out.figures = Json::parse(json_of(applied));
    return out;
  }

  Result run(RunContext& context, const PrintLines&) override {
    const ApplyReport applied = carry_out(execute_, context);
    Result out;
    out.listing = table_of(applied);
    out.summary.push_back(summary_of(applied));
    out.json = [text = json_of(applied)] { return std::vector<std::string>{text}; };
    out.exit_code = applied.exit_code();
    return out;
  }

  OutputKind json_kind() const override {
    return {"the result of millrace dedupe apply, undo or purge", ReadAccess::owner,
            make_json_recognizer("apply", {"command", "action", "go", "id", "journal?", "journal_base64?",
                                           "interrupted", "items", "totals", "notes"})};
  }

  // These jobs act on files anywhere, so they cannot be sandboxed.
  bool can_be_sandboxed() const override { return false; }

 protected:
  virtual ApplyReport carry_out(bool execute, RunContext& context) = 0;

  void add_execute_option(Settings& settings) {
    settings.set_heading("Actions");
    settings.add_consent("go", "carry out the actions; without this option nothing is changed", execute_);
  }
  // Protects the files that such a run acts on from becoming outputs: the named ones, and all pictures and their
  // companions. The named ones are read when the first output is checked, if there is one.
  static void protect(OutputRegistry& outputs, std::function<std::set<std::string>()> named) {
    outputs.never_replace(
        [named = std::move(named), paths = std::optional<std::set<std::string>>()](const std::string& path) mutable {
          if (!paths) paths = named();
          return paths->count(path) > 0 || is_input(path);
        });
  }

  std::vector<std::string> inputs_;

 private:
  bool execute_ = false;
};

class ApplyJob : public ApplyJobBase {
 public:
  Arguments arguments() override { return {"DECISIONS", "decisions.json, saved from the page", &inputs_, true, false}; }
  void describe(Settings& settings) override {
    add_execute_option(settings);
    dedupe::describe(settings, options_);
    settings.add_consent("trust-files", kTrustFilesHelp, options_.trust_files);
  }
  void register_files(OutputRegistry& outputs) override {
    options_.decisions = inputs_.at(0);
    for (const std::string& file : catalog_files(catalog_path(options_.catalog))) outputs.add_kept_file(file);
    outputs.add_input(options_.decisions);
    if (!options_.journal.empty()) outputs.add_input(options_.journal);
    protect(outputs, [this] { return read_decision_paths(options_.decisions); });
  }

 protected:
  ApplyReport carry_out(bool execute, RunContext& context) override {
    options_.execute = execute;
    return dedupe::apply(options_, context);
  }

 private:
  ApplyOptions options_;
};

// Base of the jobs that act on a journal.
class JournalJob : public ApplyJobBase {
 public:
  using Act = ApplyReport (*)(const std::string& journal, bool execute, Trust trust, RunContext& context);
  explicit JournalJob(Act act) : act_(act) {}

  Arguments arguments() override {
    return {"JOURNAL", "the journal that apply wrote, or its id", &inputs_, true, false};
  }
  void describe(Settings& settings) override {
    add_execute_option(settings);
    settings.add_consent("trust-files", kTrustFilesHelp, trust_files_);
  }
  void register_files(OutputRegistry& outputs) override {
    outputs.add_input(find_journal_file(inputs_.at(0)));
    protect(outputs, [this] { return read_journal_paths(inputs_.at(0), trust()); });
  }

 protected:
  ApplyReport carry_out(bool execute, RunContext& context) override {
    return act_(inputs_.at(0), execute, trust(), context);
  }

 private:
  Trust trust() const { return trust_files_ ? Trust::files : Trust::checked; }

  const Act act_;
  bool trust_files_ = false;
};

}  // namespace

std::unique_ptr<Job> make_apply_job() { return std::make_unique<ApplyJob>(); }
std::unique_ptr<Job> make_undo_job() { return std::make_unique<JournalJob>(undo); }
std::unique_ptr<Job> make_purge_job() { return std::make_unique<JournalJob>(purge); }

}  // namespace millrace::dedupe
