#include "src/cli/device_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "src/base/sizes.h"
#include "src/base/text.h"

namespace millrace::cli {

std::vector<std::string> words_of(const Accelerator& accelerator) {
  std::vector<std::string> out;
  const DeviceCounts counts = accelerator.counts();
  const std::string name = fmt::format("{} ({})", name_of(accelerator.device()), accelerator.device().name);
  if (counts.batches > 0) {
    out.push_back(
        fmt::format("{}: {} batches, {} of them computed by the CPU too; {} to it, {} back, {} of its memory at most",
                    name, grouped(counts.batches), grouped(counts.verified), to_text(Bytes{counts.upload_bytes}),
                    to_text(Bytes{counts.download_bytes}), to_text(counts.peak)));
  } else if (!accelerator.struck_out()) {
    out.push_back(name + " was not used: nothing in this run was worth it");
  }
  if (counts.halved > 0) {
    out.push_back(
        fmt::format("{}: its memory did not do {} times; batches were made smaller{}", name, grouped(counts.halved),
                    counts.fell_back > 0 ? fmt::format(", and {} done by the CPU", grouped(counts.fell_back)) : ""));
  }
  if (accelerator.struck_out())
    out.push_back(accelerator.reason() + "; the CPU did the rest, the results are the CPU's");
  return out;
}

std::vector<std::string> with_device(std::vector<std::string> pieces, const Accelerator* accelerator) {
  if (accelerator == nullptr || pieces.empty()) return pieces;
  const DeviceCounts c = accelerator->counts();
  const auto ms = [](double seconds) { return std::round(seconds * 1e6) / 1e3; };
  const nlohmann::ordered_json device = {
      {"name", name_of(accelerator->device())},
      {"model", utf8_for_display(accelerator->device().name)},
      {"used", c.batches > 0},
      {"struck_out", utf8_for_display(accelerator->reason())},
      {"batches", c.batches},
      {"verified", c.verified},
      {"fell_back", c.fell_back},
      {"halved", c.halved},
      {"uploads", {{"count", c.uploads}, {"bytes", c.upload_bytes}, {"ms", ms(c.upload_s)}}},
      {"launches", {{"count", c.launches}, {"ms", ms(c.on_device_s)}}},
      {"downloads", {{"count", c.downloads}, {"bytes", c.download_bytes}, {"ms", ms(c.download_s)}}},
      {"peak_memory", c.peak.count}};
  // Results end with the brace of their one object.
  std::string& last = pieces.back();
  const std::size_t brace = last.rfind('}');
  if (brace == std::string::npos) return pieces;
  const std::size_t end = last.find_last_not_of(" \n", brace - 1);
  last.insert(end + 1, ",\n \"device\": " + device.dump());
  return pieces;
}

}  // namespace millrace::cli
