#include "src/jobs/latents/metrics_csv.h"

#include <fmt/format.h>

#include <iterator>

#include "src/base/text.h"

namespace millrace::latents {
namespace {

constexpr const char* kMetricsHeader = "group,video,step,metric,value";

}  // namespace

OutputKind metrics_kind() {
  return {"a table of metrics", ReadAccess::everyone, make_table_recognizer(kMetricsHeader)};
}

void write_metrics_csv(const MetricTable& table, const OutputTarget& csv, const LatentSet& set, RunContext& context) {
  OutputFile out(csv);
  out.write(std::string(kMetricsHeader) + "\n");
  std::string text;
  const auto append = [&](const std::string& front, std::string_view metric, double value) {
    if (value == value) fmt::format_to(std::back_inserter(text), "{}{},{}\n", front, metric, value);
  };
  for (std::size_t row = 0; row < set.files.size(); ++row) {
    const LatentFile& latent = set.files[row];
    const LatentVideo& video = set.videos[latent.video];
    const std::string who = fmt::format("{},{},", quote_csv_field(replace_invalid_utf8(video.group)),
                                        quote_csv_field(replace_invalid_utf8(video.name)));
    const std::string front = fmt::format("{}{},", who, latent.step);
    for (std::size_t k = 0; k < table.metrics.size(); ++k) append(front, table.metrics[k], table.at(row, k));
    const bool last = row + 1 == set.files.size() || set.files[row + 1].video != latent.video;
    if (last && latent.video < table.trajectories.size() && table.trajectories[latent.video]) {
      const auto values = values_of(*table.trajectories[latent.video]);
      for (std::size_t k = 0; k < values.size(); ++k) append(who + ",", kTrajectoryNames[k], values[k]);
    }
    if (last) {
      out.write(text);
      text.clear();
      context.throw_if_cancelled();
    }
  }
  out.commit();
}

}  // namespace millrace::latents
