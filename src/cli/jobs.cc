#include <fmt/format.h>

#include <map>

#include "src/cli/app.h"

namespace millrace::cli {
namespace {

// Refuses `dedupe photos apply`: the user meant either arguments of `dedupe` or its subcommand `apply`, not both.
void refuse_arguments_before(CLI::App& above, CLI::App& command) {
  command.parse_complete_callback([&above, name = command.get_name()] {
    for (const CLI::Option* option : above.get_options()) {
      if (option->count() == 0) continue;
      throw CLI::ValidationError(
          fmt::format("arguments and options of {0} must come after it; write ./{0} for a folder of that name", name));
    }
  });
}

}  // namespace

CLI::App& add_job(CLI::App& under, const ListedJob& job, Commands& commands) {
  commands.push_back(std::make_unique<Command>(under, std::string(job.name), std::string(job.about), job.make()));
  CLI::App& app = commands.back()->app();
  if (!job.parent_command.empty()) refuse_arguments_before(under, app);
  return app;
}

void add_jobs(CLI::App& parent, Commands& commands) {
  std::map<std::string_view, CLI::App*> added;
  for (const ListedJob& job : all_jobs())
    added[job.name] = &add_job(job.parent_command.empty() ? parent : *added.at(job.parent_command), job, commands);
}

}  // namespace millrace::cli
