#include "src/jobs/tune/tune.h"

#include <fmt/format.h>

#include "src/base/json.h"
#include "src/base/stopwatch.h"
#include "src/base/text.h"
#include "src/device/queue.h"
#include "src/trace/trace.h"

namespace millrace::tune {
namespace {

// Measures the bytes per second copied from and to pageable (not pinned) memory, as in a run.
void measure_copies(Accelerator& accelerator, DeviceRates& rates) {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  constexpr int kTimes = 4;
  const std::size_t bytes = std::min<std::size_t>(kBytes, accelerator.free_memory().count / 2);
  std::vector<std::byte> host(bytes);
  Queue queue(accelerator);
  DeviceBuffer<std::byte> buffer(accelerator, bytes, "copies");
  const auto rate = [&](const auto& copy) {
    copy();
    const Stopwatch watch;
    for (int i = 0; i < kTimes; ++i) copy();
    return static_cast<double>(bytes) * kTimes / std::max(1e-9, watch.seconds());
  };
  rates.up_bytes_s = rate([&] { queue.upload(std::span<const std::byte>(host), buffer); });
  rates.down_bytes_s = rate([&] { queue.download(buffer, std::span(host)); });
}

std::string rate_words(double amount_s, const std::string& unit) {
  const char* const prefixes[] = {"", "k ", "M ", "G ", "T "};
  std::size_t at = 0;
  for (; at < 4 && amount_s >= 1000; ++at) amount_s /= 1000;
  return fmt::format("{:.3g} {}{}", amount_s, prefixes[at], unit);
}

[[noreturn]] void refuse(const Accelerator& accelerator) {
  throw Failure(ErrorCode::unavailable,
                accelerator.is_excluded() ? accelerator.reason() : accelerator.fallback_reason(), accelerator.title(),
                "millrace doctor lists the devices of this machine");
}

}  // namespace

DeviceMeasurement measure(const Device& device, const Executor& executor, Bytes memory) {
  Budget budget(2_GiB);
  Trace trace;
  DeviceMeasurement out;
  out.device = device;
  AcceleratorOptions options;
  options.verify = VerifyMode::none;
  options.memory = memory;
  Accelerator accelerator(device, options, budget, trace);
  const Stopwatch watch;
  for (const test_vectors::DeviceKernels& kernels : test_vectors::device_kernels()) {
    if (!accelerator.prepare_kernels(kernels.source(), kernels.entries, kernels.test_vectors)) {
      refuse(accelerator);
    }
    if (out.operations.empty()) out.rates.begin_s = watch.seconds();
    for (const MeasuredRate& measured : kernels.measure(accelerator, executor)) out.operations.push_back(measured);
    // Operations that were cancelled would have finished in no time, so their rates are not used.
    if (executor.cancelled()) throw Failure(interrupted("no rates were stored"));
  }
  measure_copies(accelerator, out.rates);
  if (accelerator.is_excluded()) {
    refuse(accelerator);
  }
  for (const MeasuredRate& measured : out.operations) out.rates.amount_s[measured.operation] = measured.device_amount_s;
  return out;
}

std::string text_of(const DeviceMeasurement& tuned) {
  std::string out = fmt::format("{} ({}): starts in {:.0f} ms, copies {}/s to the device and {}/s back\n",
                                name_of(tuned.device), escape_unprintable(tuned.device.name), tuned.rates.begin_s * 1e3,
                                format_bytes(Bytes{static_cast<std::uint64_t>(tuned.rates.up_bytes_s)}),
                                format_bytes(Bytes{static_cast<std::uint64_t>(tuned.rates.down_bytes_s)}));
  for (const MeasuredRate& one : tuned.operations) {
    const double ratio = one.device_amount_s / one.cpu_amount_s;
    // Time of the CPU from which on the device is faster.
    const double even = ratio > 1 ? tuned.rates.begin_s / (1 - 1 / ratio) : 0;
    out += fmt::format("  {:<18} {:>18}, the CPU {:>18}: {}\n", one.operation,
                       rate_words(one.device_amount_s, one.unit), rate_words(one.cpu_amount_s, one.unit),
                       ratio > 1 ? fmt::format("{:.3g} times as fast; used for work that takes the CPU {} or more",
                                               ratio, format_duration(std::max(even, kMinSecondsToMove)))
                                 : "the CPU is faster");
  }
  return out;
}

Json json_of(const std::vector<DeviceMeasurement>& all) {
  Json devices = Json::array();
  for (const DeviceMeasurement& one : all) {
    Json operations = Json::array();
    for (const MeasuredRate& measured : one.operations) {
      operations.push_back({{"operation", measured.operation},
                            {"unit", measured.unit},
                            {"device_amount_s", measured.device_amount_s},
                            {"cpu_amount_s", measured.cpu_amount_s}});
    }
    devices.push_back({{"device", name_of(one.device)},
                       {"model", replace_invalid_utf8(one.device.name)},
                       {"begin_s", one.rates.begin_s},
                       {"up_bytes_s", one.rates.up_bytes_s},
                       {"down_bytes_s", one.rates.down_bytes_s},
                       {"operations", operations}});
  }
  return {{"millrace", "tune"}, {"devices", devices}};
}

}  // namespace millrace::tune
