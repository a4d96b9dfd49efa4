#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <mutex>
#include <optional>

#include "bindings.h"
#include "calls.h"
#include "millrace/jobs.h"
#include "texts.h"

namespace millrace::python {
namespace {

nb::bytes to_bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }

nb::list lines_of(const std::vector<std::string>& lines) {
  nb::list out;
  for (const std::string& line : lines) out.append(to_bytes(line));
  return out;
}

nb::list list_jobs() {
  nb::list out;
  for (const JobDescription& job : describe_jobs()) {
    nb::dict one;
    one["name"] = job.name;
    one["about"] = job.about;
    one["argument_name"] = job.argument_name;
    one["argument_help"] = job.argument_help;
    one["argument_required"] = job.argument_required;
    one["many_arguments"] = job.many_arguments;
    one["options"] = dicts_of(job.options);
    out.append(one);
  }
  return out;
}

// Runs a job. Strings are passed as bytes, because paths may be in any encoding. `progress` is called with (stage,
// done, total, bytes).
nb::dict run(const std::string& job, const nb::list& arguments, const nb::list& options, const nb::bytes& config,
             const nb::object& progress) {
  JobRequest request;
  request.job = job;
  request.arguments = texts_of(arguments);
  request.options = options_of(options);
  request.config = bytes_of(config);

  std::mutex mutex;
  std::vector<JobProgress> reports;  // latest progress of each stage that was not reported yet
  const auto keep = [&](const JobProgress& report) {
    const std::lock_guard lock(mutex);
    if (!reports.empty() && reports.back().stage == report.stage) {
      reports.back() = report;
    } else {
      reports.push_back(report);
    }
  };
  const auto tell = [&] {
    std::vector<JobProgress> now;
    {
      const std::lock_guard lock(mutex);
      now.swap(reports);
    }
    for (const JobProgress& report : now) progress(report.stage, report.done, report.total, report.bytes);
  };
  JobResult result;
  const bool watched = !progress.is_none();
  run_interruptible(
      [&](const CancelToken& cancel) {
        JobWatch watch{&cancel, {}};
        if (watched) watch.progress = keep;
        result = run_job(request, watch);
      },
      watched ? std::function<void()>(tell) : nullptr);
  nb::dict out;
  out["exit_code"] = static_cast<int>(result.exit_code);
  out["json"] = to_bytes(result.json);
  out["printed"] = to_bytes(result.printed);
  out["summary"] = lines_of(result.summary);
  out["warnings"] = lines_of(result.warnings);
  return out;
}

}  // namespace

void bind_jobs(nb::module_& m) {
  m.def("describe_jobs", list_jobs);
  m.def("run_job", run, nb::arg("job"), nb::arg("arguments"), nb::arg("options"), nb::arg("config"),
        nb::arg("progress").none());
}

}  // namespace millrace::python
