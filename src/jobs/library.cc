// Implements include/millrace/jobs.h: runs jobs as the program does.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "include/millrace/jobs.h"
#include "src/base/edit_distance.h"
#include "src/base/log.h"
#include "src/base/text.h"
#include "src/jobs/all_jobs.h"
#include "src/jobs/job_runner.h"

namespace millrace {
namespace {

// Returns the name with its parent command: "dedupe apply".
std::string full_name(const ListedJob& job) {
  return job.parent_command.empty() ? std::string(job.name) : fmt::format("{} {}", job.parent_command, job.name);
}

const ListedJob& job_named(const std::string& name) {
  const ListedJob* nearest = nullptr;
  std::size_t best = name.size();
  for (const ListedJob& job : all_jobs()) {
    const std::size_t distance = edit_distance(full_name(job), name);
    if (distance == 0) return job;
    if (distance >= best) continue;
    best = distance;
    nearest = &job;
  }
  throw Failure(ErrorCode::usage, "there is no such job", name,
                nearest == nullptr ? "" : fmt::format("did you mean '{}'?", full_name(*nearest)));
}

// Logs warnings, unless the calling program has set up a named spdlog logger of its own.
void log_what_matters() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (spdlog::default_logger_raw() != nullptr && spdlog::default_logger_raw()->name().empty())
      start_logging(LogLevel::warn);
  });
}

}  // namespace

std::vector<JobDescription> describe_jobs() {
  std::vector<JobDescription> out;
  for (const ListedJob& listed : all_jobs()) {
    JobRunner runner(full_name(listed), listed.make());
    const Job::Arguments arguments = runner.job().arguments();
    JobDescription job{runner.name(),
                       std::string(listed.about),
                       arguments.name,
                       arguments.help,
                       arguments.required,
                       arguments.many,
                       {}};
    for (const Settings::Entry& entry : runner.settings().entries()) job.options.push_back(described(entry));
    out.push_back(std::move(job));
  }
  return out;
}

JobResult run_job(const JobRequest& request, const JobWatch& watch) {
  log_what_matters();
  const ListedJob& listed = job_named(request.job);
  JobRunner runner(std::string(listed.name), listed.make());
  Settings& settings = runner.settings();
  if (!request.config.empty()) settings.apply_file(request.config);
  settings.apply_environment([](const char* name) { return std::getenv(name); });
  for (const auto& [name, values] : request.options) settings.apply_flag(name, values);
  // The result contains the JSON, so that it need not be printed as well.
  if (runner.running().json == "-") settings.apply_flag("json", {""});
  for (const Settings::Entry& entry : settings.entries()) {
    if (entry.value_name.starts_with("FILE") && entry.text() == "-")
      throw Failure(ErrorCode::usage, "it cannot be stdout, which belongs to the calling program", entry.name,
                    "name a file");
  }
  const Job::Arguments arguments = runner.job().arguments();
  if (request.arguments.empty() && arguments.required)
    throw Failure(ErrorCode::usage, "it is required", arguments.name, arguments.help);
  if (request.arguments.size() > 1 && !arguments.many)
    throw Failure(ErrorCode::usage, "only one is allowed", arguments.name, arguments.help);
  *arguments.values = request.arguments;

  const CancelToken never;
  ProgressTarget progress = ProgressStyle::none;
  if (watch.progress) {
    progress = ProgressTarget([&watch](const ProgressReport& report) {
      watch.progress({report.stage, report.done, report.total, report.bytes});
    });
  }
  runner.start(watch.cancel != nullptr ? *watch.cancel : never, progress, request.config);
  JobResult out;
  for (const std::string& note : {runner.device_note(), runner.sandbox_note()})
    if (!note.empty()) out.warnings.push_back(note);
  if (runner.running().plan) {
    const Plan plan = runner.plan();
    runner.write_json(plan);
    out.printed = text_of(plan);
    out.json = json_of(plan, runner.name());
    return out;
  }
  Result result = runner.run([&out](std::string_view text) { out.printed += text; });
  out.printed += result.listing;
  for (const std::string& piece : runner.write_json(result)) out.json += piece;
  runner.write_trace();
  for (const std::string& lines : result.summary) {
    for (std::string& line : split(lines, '\n')) out.summary.push_back(std::move(line));
  }
  if (!result.warning.empty()) out.warnings.push_back(std::move(result.warning));
  out.exit_code = result.exit_code;
  return out;
}

}  // namespace millrace
