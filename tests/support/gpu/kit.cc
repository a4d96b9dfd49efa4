// The program of the kit for a machine with a GPU (tools/gpu_kit): measures, and writes attestations.
//
// gpu_kit bodies: their names.
// gpu_kit bench DEVICE: each operation at each size on the CPU and on the device, and where they break even.
// gpu_kit attest DEVICE DRIVER [BODY=SANITIZER...]: entries of devices/attested.json, for a device that has passed;
// `not run`
//   of a body that is not named, and none of one of which the sanitizer says `failed`.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <span>
#include <string>
#include <vector>

#include "src/device/cuda/driver.h"
#include "src/kernels/chart/chart_rates.h"
#include "src/kernels/hamming/hamming_device.h"
#include "src/kernels/hash/hash_rates.h"
#include "src/kernels/latents/latents_rates.h"
#include "src/kernels/test_vectors/devices.h"
#include "src/kernels/test_vectors/inputs.h"
#include "src/trace/trace.h"

namespace millrace {
namespace {

using Steady = std::chrono::steady_clock;

Device device_of(const std::string& name) { return choose_device({.device = name}, kGpuKinds).device.value(); }

struct Timed {
  double seconds = 0;
  std::uint64_t pairs = 0;
};

// The median of three.
template <typename Code>
Timed timed(std::span<const Code> codes, const hamming::Options& options, const Engines& engines) {
  std::vector<Timed> runs;
  for (int run = 0; run < 3; ++run) {
    Budget budget(8_GiB);
    const auto begin = Steady::now();
    const hamming::JoinResult joined = hamming::count(codes, options, engines, budget);
    runs.push_back({std::chrono::duration<double>(Steady::now() - begin).count(), joined.expanded});
    if (runs.back().seconds > 20) break;
  }
  std::sort(runs.begin(), runs.end(), [](const Timed& x, const Timed& y) { return x.seconds < y.seconds; });
  return runs[runs.size() / 2];
}

// False where the device failed, or found other pairs than the CPU.
template <typename Code>
bool bench_hamming(Accelerator& accelerator, const Executor& executor, hamming::Algorithm algorithm, int radius,
                   std::size_t most, double most_cpu_s) {
  const int bits = 8 * static_cast<int>(sizeof(Code));
  fmt::print("\n{}, {} bits, radius {}\n{:>12} {:>12} {:>12} {:>10} {:>16}\n", hamming::name_of(algorithm), bits,
             radius, "codes", "CPU s", "device s", "ratio", "pairs/s");
  double last_cpu = 0;
  for (std::size_t count = std::size_t{1} << 13; count <= most; count *= 2) {
    const std::vector<Code> codes = test_vectors::random_codes<Code>(count, 9);
    const hamming::Options options{.radius = radius, .algorithm = algorithm};
    const Timed device = timed<Code>(codes, options, {executor, &accelerator});
    if (accelerator.is_excluded()) {
      fmt::print("{} was struck out: {}\n", accelerator.title(), accelerator.reason());
      return false;
    }
    const double n = static_cast<double>(count), pairs = n * (n - 1) / 2 / device.seconds;
    std::string cpu_text = "-", ratio = "-";
    if (last_cpu < most_cpu_s / 4) {
      const Timed cpu = timed<Code>(codes, options, executor);
      last_cpu = cpu.seconds;
      cpu_text = fmt::format("{:.4f}", cpu.seconds);
      ratio = fmt::format("{:.2f}", cpu.seconds / device.seconds);
      if (cpu.pairs != device.pairs) {
        fmt::print("DIFFERENT: {} pairs on the CPU, {} on the device\n", cpu.pairs, device.pairs);
        return false;
      }
    }
    fmt::print("{:>12} {:>12} {:>12.4f} {:>10} {:>16.3e}\n", count, cpu_text, device.seconds, ratio, pairs);
    std::fflush(stdout);
  }
  return true;
}

// False where the device did not draw. What it drew is compared with the CPU's charts by a check of each batch.
bool bench_charts(Accelerator& accelerator, const Executor& executor, chart::Style style, const char* name,
                  bool streams = false) {
  const chart::ChartSpec spec = chart::typical_spec(style);
  const auto rate = streams ? chart::measure_streams_per_second : chart::measure_charts_per_second;
  fmt::print("\ncharts, {}, {} x {}, {} rows, bytes, from the host {}\n{:>8} {:>14} {:>14} {:>10}\n", name, spec.width,
             spec.height, spec.rows, streams ? "and back as zlib streams" : "into the device's memory", "at once",
             "CPU charts/s", "device", "ratio");
  for (const std::size_t count : {1, 16, 256, 4096}) {
    const double device = rate(spec, count, executor, &accelerator);
    if (device == 0) {
      fmt::print("{}{}\n", accelerator.reason(), accelerator.fallback_reason());
      return false;
    }
    const double cpu = rate(spec, std::min<std::size_t>(count, 512), executor, nullptr);
    fmt::print("{:>8} {:>14.0f} {:>14.0f} {:>10.2f}\n", count, cpu, device, device / cpu);
    std::fflush(stdout);
  }
  return true;
}

// False where the device did not hash. What it made is compared with the CPU's hashes by a check of each first batch.
bool bench_hashes(Accelerator& accelerator, const Executor& executor, const HashRequest& request, const char* name) {
  fmt::print("\nhashes of RGB pictures, {}, size {}\n{:>8} {:>15} {:>15} {:>10}\n", name, request.size, "at once",
             "CPU Mpixels/s", "device", "ratio");
  for (const std::size_t count : {1, 16, 128}) {
    const double device = hashes::measure_pixels_per_second(request, count, executor, &accelerator);
    if (device == 0) {
      fmt::print("{}{}\n", accelerator.reason(), accelerator.fallback_reason());
      return false;
    }
    const double cpu = hashes::measure_pixels_per_second(request, count, executor, nullptr);
    fmt::print("{:>8} {:>15.1f} {:>15.1f} {:>10.2f}\n", count, cpu, device, device / cpu);
    std::fflush(stdout);
  }
  return true;
}

// False where the device did not measure. What it made is compared with the CPU's by a check of each batch.
bool bench_latents(Accelerator& accelerator, const Executor& executor) {
  const latents::LatentShape& shape = latents::kTypicalShape;
  fmt::print("\nlatents of [{}, {}, {}, {}], float16, latents/s\n{:>8} {:>12} {:>16} {:>18} {:>10}\n", shape.channels,
             shape.frames, shape.height, shape.width, "at once", "CPU", "from the host", "from the device", "ratio");
  const double each = static_cast<double>(shape.elements()) / 1e6;
  for (const std::size_t count : {1, 16, 128, 1440}) {
    const double host = latents::measure_elements_per_second(shape, count, executor, &accelerator) / each;
    const bool cuda = accelerator.device().kind == DeviceKind::cuda;
    const double there =
        cuda ? latents::measure_elements_per_second(shape, count, executor, &accelerator, true) / each : 0;
    if (host == 0 || (cuda && there == 0)) {
      fmt::print("{}{}\n", accelerator.reason(), accelerator.fallback_reason());
      return false;
    }
    const double cpu =
        latents::measure_elements_per_second(shape, std::min<std::size_t>(count, 128), executor, nullptr) / each;
    fmt::print("{:>8} {:>12.0f} {:>16.0f} {:>18.0f} {:>10.2f}\n", count, cpu, host, there, host / cpu);
    std::fflush(stdout);
  }
  return true;
}

int bench(const std::string& name) {
  const Device device = device_of(name);
  Budget budget(16_GiB);
  Trace trace;
  Accelerator accelerator(device, {VerifyMode::none, {}, 0}, budget, trace);
  const auto begin = Steady::now();
  for (const test_vectors::DeviceKernels& kernels : test_vectors::device_kernels()) {
    if (!accelerator.prepare_kernels(kernels.source(), kernels.entries, kernels.test_vectors)) {
      fmt::print("{}{}\n", accelerator.reason(), accelerator.fallback_reason());
      return 1;
    }
  }
  const Executor executor;
  fmt::print("{} ({}), {} threads of the CPU\nfrom nothing to known answers: {:.3f} s\n", name, device.name,
             executor.threads(), std::chrono::duration<double>(Steady::now() - begin).count());
  if (device.kind == DeviceKind::cuda) {
    const CudaDevice cuda = find_cuda_driver().devices.at(static_cast<std::size_t>(device.index));
    // 16 counts of 32 bits a multiprocessor and clock, on every capability from 7.5 on.
    const double limit = 16.0 * cuda.multiprocessors * cuda.clock_khz * 1e3;
    fmt::print(
        "popc limit: {:.3e} counts of 32 bits a second ({} multiprocessors at {:.2f} GHz): {:.3e} pairs/s of 64 bits "
        "where the first half settles them, {:.3e} where both are counted, {:.3e} of 256 bits\n",
        limit, cuda.multiprocessors, cuda.clock_khz * 1e-6, limit, limit / 2, limit / 8);
  }
  using hamming::Algorithm;
  const bool right =
      bench_hamming<std::uint64_t>(accelerator, executor, Algorithm::brute, 5, std::size_t{1} << 21, 20) &&
      bench_hamming<hamming::Code256>(accelerator, executor, Algorithm::brute, 90, std::size_t{1} << 20, 20) &&
      bench_hamming<std::uint64_t>(accelerator, executor, Algorithm::index, 5, std::size_t{1} << 25, 20) &&
      bench_hamming<std::uint64_t>(accelerator, executor, Algorithm::index, 10, std::size_t{1} << 23, 20);
  if (!right) return 1;
  // Charts drawn as users draw them: with checks.
  Accelerator checked(device, {}, budget, trace);
  for (const auto& [style, of] : {std::pair{chart::Style::line, "line"}, std::pair{chart::Style::candle, "candle"},
                                  std::pair{chart::Style::jkx, "jkx"}}) {
    if (!bench_charts(checked, executor, style, of)) return 1;
  }
  if (!bench_charts(checked, executor, chart::Style::line, "line", true)) return 1;
  for (const HashKind kind : kHashKinds) {
    if (!bench_hashes(checked, executor, {{kind}, 8}, name_of(kind))) return 1;
  }
  if (!bench_hashes(checked, executor, {{kHashKinds.begin(), kHashKinds.end()}, 8}, "all kinds")) return 1;
  return bench_latents(checked, executor) ? 0 : 1;
}

int bodies() {
  for (const test_vectors::DeviceKernels& kernels : test_vectors::device_kernels())
    fmt::print("{}\n", kernels.source().name);
  return 0;
}

// "hash=passed" of a body.
std::string word_for(std::string_view body, std::span<const std::string> words) {
  for (const std::string& word : words) {
    if (word.starts_with(body) && word.substr(body.size()).starts_with('=')) return word.substr(body.size() + 1);
  }
  return "not run";
}

int attest(const std::string& name, const std::string& driver, std::span<const std::string> sanitizer) {
  const Device device = device_of(name);
  if (device.kind != DeviceKind::cuda) {
    fmt::print(stderr, "only NVIDIA devices are attested\n");
    return 1;
  }
  char date[16] = {};
  const std::time_t now = std::time(nullptr);
  std::tm day{};
  ::gmtime_r(&now, &day);
  std::strftime(date, sizeof(date), "%Y-%m-%d", &day);
  std::string rows;
  for (const test_vectors::DeviceKernels& kernels : test_vectors::device_kernels()) {
    const KernelSource& source = kernels.source();
    const std::string result = word_for(source.name, sanitizer);
    if (result == "failed") continue;
    rows += fmt::format(
        "{}    {{\"source\": \"{}\", \"ptx_sha256\": \"{}\", \"compute_capability\": \"{}\", \"device\": \"{}\", "
        "\"driver\": \"{}\", \"date\": \"{}\", \"compiler\": \"{}\", \"sanitizer\": \"{}\"}}",
        rows.empty() ? "" : ",\n", source.name, source.hash, device.capability, device.name, driver, date,
        source.compiler, result);
  }
  fmt::print("{{\n  \"attested\": [\n{}\n  ]\n}}\n", rows);
  return 0;
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (words.size() == 2 && words[0] == "bench") return millrace::bench(words[1]);
    if (words.size() == 1 && words[0] == "bodies") return millrace::bodies();
    if (words.size() >= 3 && words[0] == "attest")
      return millrace::attest(words[1], words[2], std::span(words).subspan(3));
  } catch (const std::exception& error) {
    fmt::print(stderr, "gpu_kit: {}\n", error.what());
    return 1;
  }
  fmt::print(stderr, "gpu_kit bodies | bench DEVICE | attest DEVICE DRIVER [BODY=SANITIZER...]\n");
  return 2;
}
