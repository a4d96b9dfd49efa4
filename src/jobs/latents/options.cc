#include "src/jobs/latents/options.h"

#include <charconv>

#include "src/base/text.h"

namespace millrace::latents {

StepRange parse_steps(const std::string& text) {
  const auto refuse = [&]() -> StepRange {
    throw Failure(ErrorCode::usage, "'" + escape_unprintable(text) + "' is not a range of steps", "--steps",
                  "write FIRST:END:STRIDE, for example 0:20:2, or one step from 0 on");
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
          ErrorCode::usage, "'" + escape_unprintable(pattern) + "' is not a metric", "--metrics",
          "use names or patterns such as spatial.*, or trajectory or separability; docs/latents.md lists all metrics");
    }
  }
  return out;
}

void describe(Settings& settings, LatentsJobOptions& options) {
  settings.add_text("output", "DIR", "write the results into this folder, which is created if needed", options.output);
  settings.set_heading("Selection");
  settings.add_text("groups", "GLOB", "measure only groups whose name matches this pattern", options.groups);
  settings.add_parsed("steps", "A:B:C",
                      "measure every Cth step from A up to but not including B, or one step; default: all", ":",
                      [&options](const std::string& text) {
                        options.steps = parse_steps(text);
                        options.steps_text = text;
                      });
  millrace::describe(settings, options.links);
  settings.add_text("key", "NAME", "read the tensor of this name from files that contain several", options.key);
  settings.add_choice("layout",
                      "read the axes of a file in this order: C channels, F frames, H height, W width, B batch",
                      options.layout);
  settings.set_heading("Measurement");
  settings.add_parsed("metrics", "LIST",
                      "measure all metrics, or these names and patterns, such as spatial.*,trajectory,separability",
                      "all", [&options](const std::string& text) {
                        options.chosen = parse_metrics(text);
                        options.metrics_text = text;
                      });
  settings.add_choice(
      "normalize",
      "normalize first: z-score of channels in each latent (channel) or step (step); divide by sqrt(1 + sigma^2) (snr)",
      options.normalize);
  settings.set_heading("Statistics and reports");
  settings.add_integer("seed", "N", "set the seed of the random permutations and bootstrap resamples", options.seed, 0,
                       std::numeric_limits<long long>::max());
  settings.add_switch("report", "also write report.html, a page that shows how the groups differ", options.report);
  settings.add_switch("benchmark", "also time a sample at each CPU level and on the device, and compare the numbers",
                      options.benchmark);
  settings.add_text(
      "compare", "DEVICES",
      "also time a sample on these devices (cpu,cuda) and compare the numbers; without --output, only that",
      options.compare);
  settings.set_heading("Several runs");
  millrace::describe(settings, options.share);
}

}  // namespace millrace::latents
