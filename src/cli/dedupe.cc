#include <fmt/format.h>

#include "src/base/log.h"
#include "src/base/text.h"
#include "src/cli/app.h"
#include "src/io/image/helper_client.h"
#include "src/jobs/dedupe/report.h"

namespace millrace::cli {
namespace {

class DedupeCommand : public Command {
 public:
  explicit DedupeCommand(CLI::App& parent) : Command(parent, "dedupe", "find the same picture again") {
    app().add_option("DIR", options_.folders, "folders and pictures");
    dedupe::describe(settings(), options_);
    add_flags();
  }

 protected:
  std::string plan(RunContext& context) override {
    check_folders();
    Catalog catalog(dedupe::catalog_file(options_.catalog), dedupe::catalog_key(), access(context));
    return dedupe::plan(options_, catalog, context);
  }

  void look_at(Outputs& outputs) override {
    for (const std::string& file : catalog_files(dedupe::catalog_file(options_.catalog))) outputs.input(file);
    for (const auto* folders : {&options_.folders, &options_.reference}) {
      for (const std::string& folder : *folders) outputs.input_folder(folder, dedupe::is_input);
    }
    // Links and mounts give a picture names outside the folders: no picture is replaced, wherever it lies.
    outputs.input_folder("/", dedupe::is_input);
    csv_ = outputs.add("--csv", options_.csv, dedupe::csv_kind());
    page_ = outputs.add("--report", options_.report, page_kind());
    if (!page_ || page_.is_stream()) return;
    outputs.take_name("--report", DuplicatesPage::thumbs_folder(page_));
    DuplicatesPage::check(page_);
  }
  OutputKind json_kind() const override { return dedupe::json_kind(); }

  ExitCode run(RunContext& context) override {
    check_folders();
    Catalog catalog(dedupe::catalog_file(options_.catalog), dedupe::catalog_key(), access(context));
    spdlog::info("catalogue {}", printable(dedupe::catalog_file(options_.catalog)));
    // Never given back: the process ends next, and piece by piece a million files take a quarter of a second.
    static const dedupe::Result& result = *new dedupe::Result(dedupe::run(options_, catalog, context));
    if (json()) {
      const Span span(context.trace.stage("write JSON", 1));
      json().write(dedupe::json_of(result, context.executor));
    }
    if (csv_) csv_.write(dedupe::csv_of(result));
    if (page_) dedupe::write_page(result, options_, catalog, page_);
    std::string summary = dedupe::summary_of(result);
    if (page_) {
      summary += fmt::format("the page to look through: {}\n", printable(options_.report));
      if (!options_.catalog.empty()) {
        summary += fmt::format("to act on what it exports: millrace dedupe apply decisions.json --catalog {}\n",
                               printable(options_.catalog));
      }
    }
    if (!page_ && !json() && !csv_ && !result.groups.empty()) {
      summary += "to see them: --report FILE, --csv FILE or --json FILE\n";
    }
    summary.pop_back();
    say(summary);
    if (options_.sandbox == "all") say(cost_of_sandbox());
    if (common().verbose) say(context.trace.verdict());
    return result.library.unreadable.empty() ? ExitCode::done : ExitCode::partial;
  }

 private:
  CatalogAccess access(const RunContext& context) const {
    return dedupe::access_for(context, options_.trust_files ? Trust::files : Trust::checked);
  }

  void check_folders() const {
    if (options_.folders.empty()) {
      throw Failure(ErrorCode::usage, "no folder is named", "dedupe",
                    "name at least one, or see millrace dedupe --help");
    }
  }

  dedupe::Options options_;
  Output page_, csv_;
};

}  // namespace

void add_dedupe_commands(CLI::App& parent, std::vector<std::unique_ptr<Command>>& commands) {
  auto search = std::make_unique<DedupeCommand>(parent);
  // They come first: when one of them is given, `dedupe` is given too.
  add_dedupe_apply_commands(search->app(), commands);
  commands.push_back(std::move(search));
}

}  // namespace millrace::cli
