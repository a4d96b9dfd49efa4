#include <fmt/format.h>

#include "src/cli/app.h"
#include "src/io/file/atomic_file.h"
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
    Catalog catalog(catalog_path(), dedupe::catalog_key());
    return dedupe::plan(options_, catalog, context);
  }

  ExitCode run(RunContext& context) override {
    check_folders();
    Catalog catalog(catalog_path(), dedupe::catalog_key());
    // Never given back: the process ends next, and piece by piece a million files take a quarter of a second.
    static const dedupe::Result& result = *new dedupe::Result(dedupe::run(options_, catalog, context));
    if (!common().json.empty()) {
      const Span span(context.trace.stage("write JSON", 1));
      write_output(common().json, dedupe::json_of(result, context.executor));
    }
    if (!options_.csv.empty()) write_output(options_.csv, dedupe::csv_of(result));
    if (!options_.report.empty()) dedupe::write_page(result, options_, catalog, options_.report);
    std::string summary = dedupe::summary_of(result);
    if (!options_.report.empty()) summary += fmt::format("the page to look through: {}\n", options_.report);
    if (options_.report.empty() && common().json.empty() && options_.csv.empty()) {
      summary += "to see them: --report FILE.html, --csv FILE or --json FILE\n";
    }
    summary.pop_back();
    say(summary);
    if (common().verbose) say(context.trace.verdict());
    return result.library.unreadable.empty() ? ExitCode::done : ExitCode::partial;
  }

 private:
  void check_folders() const {
    if (options_.folders.empty()) {
      throw Failure(ErrorCode::usage, "no folder is named", "dedupe",
                    "name at least one, or see millrace dedupe --help");
    }
  }

  std::string catalog_path() const { return options_.catalog.empty() ? data_path("catalog.sqlite") : options_.catalog; }

  dedupe::Options options_;
};

}  // namespace

void add_dedupe_commands(CLI::App& parent, std::vector<std::unique_ptr<Command>>& commands) {
  auto search = std::make_unique<DedupeCommand>(parent);
  // They come first: when one of them is given, `dedupe` is given too.
  add_dedupe_apply_commands(search->app(), commands);
  commands.push_back(std::move(search));
}

}  // namespace millrace::cli
