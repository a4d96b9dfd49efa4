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

}  // namespace

OutputKind csv_kind() { return {"a table of metrics", Readers::everyone, table_with_header(kHeader)}; }

std::uint64_t write_metrics_csv(const std::string& arrays, const Output& csv, const LatentSet& set,
                                RunContext& context) {
  constexpr std::size_t kAtOnce = 1024;
  const auto cancelled = [&context] { return context.cancel.cancelled(); };
  hdf5::Reader reader(cancelled);
  const auto file = FileReader::open(arrays, FileReader::Hashing::off).or_throw();
  const hdf5::Series metrics = reader.describe(*file, kMetricsArray).or_throw();
  const hdf5::Series counts = reader.describe(*file, "not_finite").or_throw();
  const std::vector<std::uint64_t> expected = {set.files.size(), kMetricNames.size()};
  if (metrics.shape != expected) {
    throw Failure(ErrorCode::conflict, "it has changed since it was made", printable(arrays),
                  "remove it, and run the same command again");
  }
  OutputFile out(csv);
  out.write(std::string(kHeader) + "\n");
  std::uint64_t not_finite = 0;
  std::vector<double> values(kAtOnce * kMetricNames.size()), elements(kAtOnce);
  std::string text;
  for (std::size_t begin = 0; begin < set.files.size(); begin += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, set.files.size() - begin);
    reader.read(metrics, kMetricNames.size(), begin, count, values.data());
    reader.read(counts, 1, begin, count, elements.data());
    text.clear();
    for (std::size_t i = 0; i < count; ++i) {
      const LatentFile& latent = set.files[begin + i];
      const Video& video = set.videos[latent.video];
      if (elements[i] > 0) ++not_finite;
      const std::string front = fmt::format("{},{},{},", csv_field(utf8_for_display(video.group)),
                                            csv_field(utf8_for_display(video.name)), latent.step);
      for (std::size_t k = 0; k < kMetricNames.size(); ++k) {
        const double value = values[i * kMetricNames.size() + k];
        if (value == value) fmt::format_to(std::back_inserter(text), "{}{},{}\n", front, kMetricNames[k], value);
      }
    }
    out.write(text);
    context.throw_if_cancelled();
  }
  out.commit();
  return not_finite;
}

}  // namespace millrace::latents
