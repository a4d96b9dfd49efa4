#include "src/jobs/latents/metrics_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "src/base/text.h"
#include "src/io/file/reader.h"
#include "src/io/store/hdf5_reader.h"
#include "src/jobs/latents/dataset.h"

namespace millrace::latents {
namespace {

constexpr const char* kHeader = "group,video,step,metric,value";

// Numbers of a row of the array of trajectories.
constexpr std::size_t kMoves = 4;

// Lines of a video: they have no step.
void append_trajectory(const std::string& who, const Trajectory& found, std::string& text) {
  const std::pair<const char*, double> values[] = {
      {"path", found.path},           {"linearity", found.linearity},       {"tortuosity", found.tortuosity},
      {"velocity", found.velocity},   {"acceleration", found.acceleration}, {"turning_angle", found.turning_angle},
      {"half_life", found.half_life},
  };
  for (const auto& [name, value] : values) {
    if (value == value) fmt::format_to(std::back_inserter(text), "{},trajectory.{},{}\n", who, name, value);
  }
}

}  // namespace

OutputKind csv_kind() { return {"a table of metrics", Readers::everyone, table_with_header(kHeader)}; }

std::uint64_t write_metrics_csv(const std::string& arrays, const Output& csv, const LatentSet& set,
                                RunContext& context) {
  constexpr std::size_t kAtOnce = 1024;
  const auto cancelled = [&context] { return context.cancel.cancelled(); };
  hdf5::Reader reader(cancelled);
  const auto file = FileReader::open(arrays, FileReader::Hashing::off).or_throw();
  const hdf5::Series metrics = reader.describe(*file, kMetricsArray).or_throw();
  const hdf5::Series trajectory = reader.describe(*file, kTrajectoryArray).or_throw();
  const hdf5::Series counts = reader.describe(*file, "not_finite").or_throw();
  const std::vector<std::uint64_t> expected = {set.files.size(), kMetricNames.size()};
  if (metrics.shape != expected) {
    throw Failure(ErrorCode::conflict, "it has changed since it was made", printable(arrays),
                  "remove it, and run the same command again");
  }
  OutputFile out(csv);
  out.write(std::string(kHeader) + "\n");
  std::uint64_t not_finite = 0;
  std::vector<double> values(kAtOnce * kMetricNames.size()), elements(kAtOnce), moves(kAtOnce * kMoves);
  std::vector<Step> steps;  // of one video
  std::string text;
  for (std::size_t begin = 0; begin < set.files.size(); begin += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, set.files.size() - begin);
    reader.read(metrics, kMetricNames.size(), begin, count, values.data());
    reader.read(trajectory, kMoves, begin, count, moves.data());
    reader.read(counts, 1, begin, count, elements.data());
    text.clear();
    for (std::size_t i = 0; i < count; ++i) {
      const LatentFile& latent = set.files[begin + i];
      const Video& video = set.videos[latent.video];
      if (elements[i] > 0) ++not_finite;
      const std::string who =
          fmt::format("{},{},", csv_field(utf8_for_display(video.group)), csv_field(utf8_for_display(video.name)));
      const std::string front = fmt::format("{}{},", who, latent.step);
      for (std::size_t k = 0; k < kMetricNames.size(); ++k) {
        const double value = values[i * kMetricNames.size() + k];
        if (value == value) fmt::format_to(std::back_inserter(text), "{}{},{}\n", front, kMetricNames[k], value);
      }
      const double* const move = moves.data() + i * kMoves;
      const std::size_t row = begin + i;
      if (row > 0 && set.files[row - 1].video == latent.video) steps.push_back({move[0], move[1], move[2]});
      if (row + 1 < set.files.size() && set.files[row + 1].video == latent.video) continue;
      if (const auto found = trajectory_of(steps, move[3])) append_trajectory(who, *found, text);
      steps.clear();
    }
    out.write(text);
    context.throw_if_cancelled();
  }
  out.commit();
  return not_finite;
}

}  // namespace millrace::latents
