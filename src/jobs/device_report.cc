#include "src/jobs/device_report.h"

#include <fmt/format.h>

#include <cmath>

#include "src/base/json.h"
#include "src/base/sizes.h"
#include "src/base/text.h"
#include "src/jobs/job.h"

namespace millrace {

namespace {

std::string times(std::uint64_t count, const char* what) {
  return fmt::format("{} {}{}", group_digits(count), what, count == 1 ? "" : "es");
}

}  // namespace

std::vector<std::string> words_of(const Accelerator& accelerator) {
  std::vector<std::string> out;
  const DeviceCounts counts = accelerator.counts();
  const std::string name = accelerator.title();
  const std::string by_cpu =
      counts.fell_back > 0 ? fmt::format("; the CPU computed {} instead", times(counts.fell_back, "batch")) : "";
  if (counts.batches > 0) {
    out.push_back(fmt::format(
        "{}: {}, {} of them verified on the CPU; {} uploaded, {} downloaded, at most {} of its memory{}", name,
        times(counts.batches, "batch"), group_digits(counts.verified), format_bytes(Bytes{counts.upload_bytes}),
        format_bytes(Bytes{counts.download_bytes}), format_bytes(counts.peak), by_cpu));
  } else if (!accelerator.is_excluded()) {
    const std::string why = accelerator.fallback_reason();
    out.push_back(fmt::format("{} was not used: {}", name, why.empty() ? "there was nothing for it to compute" : why));
  }
  if (counts.halved > 0 && counts.batches > 0) {
    out.push_back(
        fmt::format("{}: {} did not fit into its memory and were divided", name, times(counts.halved, "batch")));
  }
  return out;
}

std::string make_device_warning(const Accelerator& accelerator) {
  if (!accelerator.is_excluded()) return "";
  return fmt::format(
      "{} failed and was no longer used: {}; the CPU computed the rest, and the results are those of the CPU",
      accelerator.title(), accelerator.reason());
}

std::vector<std::string> add_device_key(std::vector<std::string> strings, const Accelerator* accelerator,
                                        const std::string& note) {
  if ((accelerator == nullptr && note.empty()) || strings.empty()) return strings;
  if (accelerator == nullptr) {
    return add_key(std::move(strings), "device", {{"name", "cpu"}, {"reason", replace_invalid_utf8(note)}});
  }
  const DeviceCounts c = accelerator->counts();
  const auto ms = [](double seconds) { return std::round(seconds * 1e6) / 1e3; };
  const Json device = {{"name", name_of(accelerator->device())},
                       {"model", replace_invalid_utf8(accelerator->device().name)},
                       {"used", c.batches > 0},
                       {"struck_out", accelerator->is_excluded()},
                       {"reason", replace_invalid_utf8(accelerator->is_excluded() ? accelerator->reason()
                                                                                  : accelerator->fallback_reason())},
                       {"batches", c.batches},
                       {"verified", c.verified},
                       {"fell_back", c.fell_back},
                       {"halved", c.halved},
                       {"uploads", {{"count", c.uploads}, {"bytes", c.upload_bytes}, {"ms", ms(c.upload_s)}}},
                       {"launches", {{"count", c.launches}, {"ms", ms(c.on_device_s)}}},
                       {"downloads", {{"count", c.downloads}, {"bytes", c.download_bytes}, {"ms", ms(c.download_s)}}},
                       {"peak_memory", c.peak.count}};
  return add_key(std::move(strings), "device", device);
}

}  // namespace millrace
