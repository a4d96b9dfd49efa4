#include "src/jobs/latents/options.h"

#include <charconv>

#include "src/base/text.h"

namespace millrace::latents {

StepRange parse_steps(const std::string& text) {
  const auto refuse = [&]() -> StepRange {
    throw Failure(ErrorCode::usage, "'" + escape_unprintable(text) + "' is no range of steps", "--steps",
                  "write FIRST:END:STRIDE, as 0:20:2, or one step");
  };
  const std::vector<std::string> parts = split(text, ':');
  if (parts.empty() || parts.size() > 3) return refuse();
  StepRange out;
  bool understood = true;
  const auto take = [&](std::size_t i, long long& value) {
    if (i >= parts.size() || (parts[i].empty() && parts.size() > 1)) return;
    const char* const last = parts[i].data() + parts[i].size();
    const auto [end, error] = std::from_chars(parts[i].data(), last, value);
    understood = understood && error == std::errc() && end == last && value >= 0 && value <= kMaxStep;
  };
  take(0, out.first);
  take(1, out.end);
  take(2, out.stride);
  if (!understood) return refuse();
  if (parts.size() == 1) out.end = out.first + 1;
  if (out.stride < 1 || out.end <= out.first) return refuse();
  return out;
}

ChosenMetrics parse_metrics(const std::string& text) {
  if (text == "all") return {};
  ChosenMetrics out{{}, false, false};
  for (const std::string& part : split(text, ',')) {
    const std::string pattern(trim(part));
    bool any = false;
    for (std::size_t k = 0; k < kMetricNames.size(); ++k) {
      if (!glob_match(pattern, kMetricNames[k])) continue;
      out.metrics.set(k);
      any = true;
    }
    for (const auto& [name, value] : {std::pair{"trajectory", &out.trajectory}, {"separability", &out.separability}}) {
      if (!glob_match(pattern, name) && !(pattern == std::string(name) + ".*")) continue;
      *value = any = true;
    }
    if (!any) {
      throw Failure(
          ErrorCode::usage, "'" + escape_unprintable(pattern) + "' is no metric", "--metrics",
          "docs/latents.md lists them; patterns as spatial.* are understood, trajectory and separability too");
    }
  }
  return out;
}

void describe(Settings& settings, LatentsJobOptions& options) {
  settings.add_text("output", "DIR", "the folder of results; it is made", options.output);
  settings.set_heading("Which latents");
  settings.add_text("groups", "GLOB", "groups whose name fits", options.groups);
  settings.add_parsed("steps", "A:B:C", "steps from A, without B, C apart; or one step", ":",
                      [&options](const std::string& text) {
                        options.steps = parse_steps(text);
                        options.steps_text = text;
                      });
  millrace::describe(settings, options.links);
  settings.add_text("key", "NAME", "the tensor to take of a file that holds several", options.key);
  settings.add_choice("layout", "the order of a file's axes", options.layout);
  settings.set_heading("What is measured");
  settings.add_parsed("metrics", "LIST", "all, or names and patterns, as spatial.*,trajectory,separability", "all",
                      [&options](const std::string& text) {
                        options.chosen = parse_metrics(text);
                        options.metrics_text = text;
                      });
  settings.add_choice("normalize",
                      "what latents are made alike in first: mean and deviation of each channel, in each latent or in "
                      "all of a step; the power that noise adds, by the sigma of their metadata",
                      options.normalize);
  settings.set_heading("What it means");
  settings.add_integer("seed", "N", "of the random numbers that permutations and intervals take", options.seed, 0,
                       std::numeric_limits<long long>::max());
  settings.add_switch("report", "also write report.html, a page of what differs", options.report);
  settings.add_switch("benchmark",
                      "also measure a sample at each CPU level and number of threads, and on the device, and "
                      "compare",
                      options.benchmark);
  settings.add_text("compare", "DEVICES",
                    "also measure a sample on each of these, as cpu,cuda, and compare: how long it takes, and whether "
                    "all numbers are the same; without --output nothing else",
                    options.compare);
  settings.set_heading("Several runs");
  millrace::describe(settings, options.share);
}

}  // namespace millrace::latents
