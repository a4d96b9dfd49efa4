#include "src/jobs/latents/compare_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "src/base/stopwatch.h"
#include "src/base/text.h"
#include "src/jobs/latents/dataset.h"
#include "src/kernels/latents/latents_device.h"
#include "src/memory/object_pool.h"

namespace millrace::latents {
namespace {

constexpr std::size_t kMaxLatents = 256, kMaxDifferences = 20, kRuns = 3;

// Latents to measure, with their values as they were read.
struct Sample {
  LatentShape shape;
  std::vector<const LatentFile*> files;
  Reservation reservation;
  Buffer<std::byte> values;
  std::vector<ArrayView> views;
};

Sample read_sample(const LatentSet& set, const Normalization& normalization, RunContext& context) {
  Sample out;
  out.shape = set.usual_shape();
  const std::uint64_t each = out.shape.elements() * sizeof(float);
  const std::size_t most = std::clamp<std::uint64_t>(context.budget.limit().count / 8 / each, 1, kMaxLatents);
  for (const LatentFile& file : set.files) {
    if (file.shape == out.shape) out.files.push_back(&file);
  }
  if (out.files.size() > most) {
    // Latents are taken evenly from the list, the first one included.
    for (std::size_t i = 0; i < most; ++i) out.files[i] = out.files[i * out.files.size() / most];
    out.files.resize(most);
  }
  out.reservation = context.budget.reserve({each * out.files.size()}, "latents to compare");
  out.values.resize(each * out.files.size());
  LatentReader reader(normalization);
  for (std::size_t i = 0; i < out.files.size(); ++i) {
    context.throw_if_cancelled();
    ArrayView view = reader.read(*out.files[i]);
    std::byte* const to = out.values.data() + i * each;
    std::memcpy(to, view.data, static_cast<std::size_t>(view.elements()) * view.type.bytes());
    view.data = to;
    out.views.push_back(std::move(view));
  }
  return out;
}

// Calls measure() kRuns times; returns the run with the median of seconds.
template <typename Measure>
ComparedDevice measure_median(const Measure& measure) {
  std::array<ComparedDevice, kRuns> runs;
  for (ComparedDevice& run : runs) run = measure();
  std::nth_element(runs.begin(), runs.begin() + kRuns / 2, runs.end(),
                   [](const ComparedDevice& a, const ComparedDevice& b) { return a.seconds < b.seconds; });
  return runs[kRuns / 2];
}

ComparedDevice measure_on_cpu(const LatentsJobOptions& options, const Sample& sample, RunContext& context,
                              std::vector<Measures>& out) {
  const auto threads = static_cast<std::uint64_t>(context.executor.threads());
  const Reservation reservation = context.budget.reserve({Analyzer::bytes(sample.shape) * threads}, "measuring");
  ObjectPool<Analyzer> analyzers([&] { return std::make_unique<Analyzer>(sample.shape, options.chosen.metrics); });
  const auto measure = [&] {
    const Stopwatch watch;
    context.executor.parallel_for(sample.views.size(), 1, [&](std::size_t first, std::size_t end) {
      const auto analyzer = analyzers.take();
      for (std::size_t i = first; i < end; ++i) analyzer->measure(sample.views[i], out[i]);
    });
    context.throw_if_cancelled();
    ComparedDevice side;
    side.seconds = watch.seconds();
    return side;
  };
  measure();
  return measure_median(measure);
}

ComparedDevice measure_with_device(const LatentsJobOptions& options, const Sample& sample, const Device& device,
                                   RunContext& context, std::vector<Measures>& out) {
  AcceleratorOptions how = context.accelerator != nullptr ? context.accelerator->options() : AcceleratorOptions{};
  // Verification is off because the device's own numbers are compared here. It would replace them by the CPU's.
  how.verify = VerifyMode::none;
  how.asked = true;
  Accelerator accelerator(device, how, context.budget, context.trace);
  DeviceAnalyzer analyzer(sample.shape, options.chosen.metrics, context.executor, accelerator, context.budget);
  const auto measure = [&] {
    const DeviceCounts before = accelerator.counts();
    const double finishing_before = analyzer.counts().finishing_s;
    const Stopwatch watch;
    analyzer.measure(sample.views, out);
    ComparedDevice side;
    side.seconds = watch.seconds();
    const DeviceCounts after = accelerator.counts();
    side.upload_s = after.upload_s - before.upload_s;
    side.kernels_s = after.on_device_s - before.on_device_s;
    side.download_s = after.download_s - before.download_s;
    side.finishing_s = analyzer.counts().finishing_s - finishing_before;
    return side;
  };
  measure();
  ComparedDevice side = measure_median(measure);
  if (analyzer.counts().by_cpu > 0) {
    const std::string why = accelerator.is_excluded() ? accelerator.reason() : accelerator.fallback_reason();
    throw Failure(ErrorCode::unavailable, why.empty() ? "one of these latents does not fit into its memory" : why,
                  accelerator.title(), "millrace doctor lists the devices of this machine");
  }
  return side;
}

// Returns the names of metrics, distributions and histograms whose bits differ.
std::vector<std::string> list_differences(const LatentsJobOptions& options, const LatentShape& shape, const Measures& a,
                                          const Measures& b) {
  std::vector<std::string> out;
  const auto is_same = [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  };
  if (a.not_finite != b.not_finite) out.emplace_back("not_finite");
  for (std::size_t k = 0; k < kMetricNames.size(); ++k)
    if (!is_same(a.values[k], b.values[k])) out.emplace_back(kMetricNames[k]);
  for (const Distribution& own : distributions(options.chosen, shape)) {
    const auto &x = own.of(a), &y = own.of(b);
    if (!std::equal(x.begin(), x.end(), y.begin(), y.end(), is_same)) out.push_back("values of " + own.name);
  }
  for (const PatchHistogram& own : patch_histograms(options.chosen, shape))
    if ((a.*own.of)[own.size] != (b.*own.of)[own.size]) out.push_back("counts of " + own.name);
  return out;
}

}  // namespace

bool DeviceComparison::is_same() const {
  return std::all_of(sides.begin(), sides.end(), [](const ComparedDevice& side) { return side.is_same; });
}

std::vector<Device> parse_devices(const std::string& list) {
  std::vector<Device> out;
  for (const std::string& part : split(list, ',')) {
    const std::string name(trim(part));
    if (name == "auto") {
      throw Failure(ErrorCode::usage, "'auto' is not the name of a device", "--compare",
                    "name devices, for example cpu,cuda");
    }
    try {
      out.push_back(choose_device({.device = name}, kGpuKinds).device.value_or(Device{}));
    } catch (const Failure& failure) {
      throw Failure(failure.error().code, failure.error().what, "--compare",
                    "omit that device; millrace doctor lists the devices of this machine");
    }
  }
  return out;
}

DeviceComparison compare(const std::vector<Device>& devices, const LatentsJobOptions& options, const LatentSet& set,
                         const Normalization& normalization, RunContext& context) {
  const Sample sample = read_sample(set, normalization, context);
  DeviceComparison out;
  out.latents = sample.views.size();
  for (const ArrayView& view : sample.views)
    out.bytes += static_cast<std::uint64_t>(view.elements()) * view.type.bytes();
  std::vector<Measures> first, found;
  for (const Device& device : devices) {
    found.assign(out.latents, {});
    ComparedDevice side = device.kind == DeviceKind::cpu ? measure_on_cpu(options, sample, context, found)
                                                         : measure_with_device(options, sample, device, context, found);
    side.name = name_of(device);
    side.model = device.name;
    if (first.empty()) first = found;
    for (std::size_t i = 0; i < out.latents; ++i) {
      if (same_bits(first[i], found[i])) continue;
      side.is_same = false;
      for (const std::string& what : list_differences(options, sample.shape, first[i], found[i])) {
        if (out.differences.size() == kMaxDifferences) break;
        out.differences.push_back(
            fmt::format("{} of {} on {}", what, escape_unprintable(sample.files[i]->file.path), side.name));
      }
    }
    out.sides.push_back(std::move(side));
  }
  return out;
}

std::vector<std::string> format_comparison(const DeviceComparison& comparison) {
  std::vector<std::string> out = {fmt::format("{} latents, {}, read from host memory; times in ms:",
                                              group_digits(comparison.latents), format_bytes(Bytes{comparison.bytes})),
                                  fmt::format("{:<10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>11}  {}", "", "all",
                                              "upload", "kernels", "download", "finishing", "latents/s", "numbers")};
  for (const ComparedDevice& side : comparison.sides) {
    const bool cpu = side.name == "cpu";
    const auto ms = [&](double seconds) { return cpu ? std::string("-") : fmt::format("{:.2f}", seconds * 1e3); };
    out.push_back(fmt::format("{:<10} {:>10.2f} {:>10} {:>10} {:>10} {:>10} {:>11}  {}", side.name, side.seconds * 1e3,
                              ms(side.upload_s), ms(side.kernels_s), ms(side.download_s), ms(side.finishing_s),
                              format_rate(static_cast<double>(comparison.latents) / std::max(side.seconds, 1e-9)),
                              side.is_same ? "same" : "DIFFERENT"));
  }
  for (const std::string& difference : comparison.differences) out.push_back("different: " + difference);
  out.emplace_back(comparison.is_same() ? "all numbers are equal, bit for bit" : "the numbers DIFFER");
  return out;
}

Json json_of(const DeviceComparison& comparison) {
  Json sides = Json::array();
  for (const ComparedDevice& side : comparison.sides) {
    sides.push_back({{"name", side.name},
                     {"model", replace_invalid_utf8(side.model)},
                     {"seconds", side.seconds},
                     {"latents_per_second", static_cast<double>(comparison.latents) / std::max(side.seconds, 1e-9)},
                     {"upload_s", side.upload_s},
                     {"kernels_s", side.kernels_s},
                     {"download_s", side.download_s},
                     {"finishing_s", side.finishing_s},
                     {"same_numbers", side.is_same}});
  }
  return {{"latents", comparison.latents},
          {"bytes", comparison.bytes},
          {"same_numbers", comparison.is_same()},
          {"sides", sides},
          {"differences", comparison.differences}};
}

}  // namespace millrace::latents
