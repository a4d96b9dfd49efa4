#include "src/jobs/dedupe/job.h"

#include <fmt/format.h>

#include "src/base/log.h"
#include "src/base/text.h"
#include "src/jobs/dedupe/page/page.h"
#include "src/jobs/dedupe/report.h"

namespace millrace::dedupe {
namespace {

class DedupeJob : public Job {
 public:
  // Its subcommands are given without a folder.
  Arguments arguments() override { return {"DIR", "folders and pictures", &options_.folders, false}; }
  std::vector<DeviceKind> devices() const override { return {DeviceKind::cuda, DeviceKind::opencl}; }
  void describe(Settings& settings) override { dedupe::describe(settings, options_); }

  void look_at(Outputs& outputs) override {
    for (const std::string& file : catalog_files(catalog_file(options_.catalog))) outputs.input(file);
    for (const auto* folders : {&options_.folders, &options_.reference}) {
      for (const std::string& folder : *folders) outputs.input_folder(folder, is_input);
    }
    // Links and mounts give a picture names outside the folders: no picture is replaced, wherever it lies.
    outputs.input_folder("/", is_input);
    csv_ = outputs.add("--csv", options_.csv, csv_kind());
    page_ = outputs.add("--report", options_.report, page_kind());
    if (!page_ || page_.is_stream()) return;
    outputs.take_name("--report", DuplicatesPage::thumbs_folder(page_));
    DuplicatesPage::check(page_);
  }
  OutputKind json_kind() const override { return dedupe::json_kind(); }

  Plan plan(RunContext& context) override {
    check_folders();
    Catalog catalog(catalog_file(options_.catalog), catalog_key(), access(context));
    return dedupe::plan(options_, catalog, context);
  }

  Result run(RunContext& context, const Print&) override {
    check_folders();
    Catalog catalog(catalog_file(options_.catalog), catalog_key(), access(context));
    spdlog::info("catalogue {}", printable(catalog_file(options_.catalog)));
    found_ = dedupe::run(options_, catalog, context);
    if (csv_) csv_.write(csv_of(found_));
    if (page_) write_page(found_, options_, catalog, page_, context);
    Result out;
    out.summary.push_back(summary_of(found_));
    out.summary.back().pop_back();
    if (page_) {
      out.summary.push_back(fmt::format("the page to look through: {}", printable(options_.report)));
      if (!options_.catalog.empty()) {
        out.summary.push_back(
            fmt::format("to act on what it exports: millrace dedupe apply decisions.json --catalog {}",
                        printable(options_.catalog)));
      }
    }
    if (!page_ && !csv_ && !found_.groups.empty())
      out.unless_json = "to see them: --report FILE, --csv FILE or --json FILE";
    if (options_.files.sandbox == Sandbox::all) out.summary.push_back(context.helpers.cost());
    out.json = [this, &context] { return json_of(found_, context.executor); };
    out.exit_code = found_.library.unreadable.empty() ? ExitCode::done : ExitCode::partial;
    return out;
  }

 private:
  CatalogAccess access(const RunContext& context) const {
    return access_for(context, options_.trust_files ? Trust::files : Trust::checked);
  }

  void check_folders() const {
    if (options_.folders.empty()) {
      throw Failure(ErrorCode::usage, "no folder is named", "dedupe",
                    "name at least one, or see millrace dedupe --help");
    }
  }

  Options options_;
  Output page_, csv_;
  SearchResult found_;
};

}  // namespace

std::unique_ptr<Job> make_job() { return std::make_unique<DedupeJob>(); }

}  // namespace millrace::dedupe
