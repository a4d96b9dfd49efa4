#include "src/jobs/latents/performance.h"

#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <set>

#include "src/base/stopwatch.h"
#include "src/device/cpu/cpu_level.h"
#include "src/io/file/file_reader.h"
#include "src/jobs/latents/dataset.h"
#include "src/memory/object_pool.h"

namespace millrace::latents {
namespace {

StageTime now() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return {std::chrono::duration<double>(Clock::now().time_since_epoch()).count(),
          seconds(used.ru_utime) + seconds(used.ru_stime)};
}

std::uint64_t peak_memory() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
}

// Hashes the bits of a latent's metrics and distributions.
std::uint64_t hash_measures(const Measures& measures, const std::vector<Distribution>& distributions) {
  std::vector<double> all(measures.values.begin(), measures.values.end());
  for (const Distribution& own : distributions) {
    const std::vector<double>& values = own.of(measures);
    all.insert(all.end(), values.begin(), values.end());
  }
  for (double& value : all)
    if (value != value) value = Measures::kAbsent;  // one kind of NaN
  return short_hash({reinterpret_cast<const std::uint8_t*>(all.data()), all.size() * sizeof(double)});
}

}  // namespace

LapTimer::LapTimer() : last_(now()) {}
StageTime LapTimer::next() {
  const StageTime at = now(), before = last_;
  last_ = at;
  return {at.elapsed_s - before.elapsed_s, at.cpu_s - before.cpu_s};
}

Benchmark benchmark(const LatentsJobOptions& options, const LatentSet& set, const Normalization& normalization,
                    RunContext& context) {
  constexpr std::size_t kSample = 64;
  Benchmark out;
  std::vector<const LatentFile*> sample;
  const std::size_t stride = std::max<std::size_t>(1, set.files.size() / kSample);
  for (std::size_t i = 0; i < set.files.size() && sample.size() < kSample; i += stride) sample.push_back(&set.files[i]);
  out.latents = sample.size();
  const std::vector<Distribution> all = distributions(options.chosen, set.max_shape());
  const CpuLevel before = current_cpu_level();
  std::vector<std::uint64_t> expected;
  for (const CpuLevel level : available_cpu_levels()) {
    use_cpu_level(level);
    for (const int threads : std::set<int>{1, context.executor.threads()}) {
      const Executor executor(threads, &context.cancel);
      std::vector<std::uint64_t> digests(sample.size());
      ObjectPool<LatentReader> readers([&] { return std::make_unique<LatentReader>(normalization); });
      const Stopwatch watch;
      executor.parallel_for(sample.size(), 1, [&](std::size_t first, std::size_t end) {
        const auto reader = readers.take();
        Measures measures;
        std::unique_ptr<Analyzer> analyzer;
        LatentShape shape;
        for (std::size_t i = first; i < end; ++i) {
          if (!analyzer || !(sample[i]->shape == shape)) {
            shape = sample[i]->shape;
            analyzer = std::make_unique<Analyzer>(shape, options.chosen.metrics);
          }
          analyzer->measure(reader->read(*sample[i]), measures);
          digests[i] = hash_measures(measures, all);
        }
      });
      const double seconds = watch.seconds();
      if (expected.empty()) expected = digests;
      out.rows.push_back({name_of(level), threads, seconds, digests == expected});
    }
  }
  use_cpu_level(before);
  context.throw_if_cancelled();
  return out;
}

OutputKind performance_kind() {
  return {"a performance report", ReadAccess::everyone, make_json_recognizer("latents-performance", {"seconds"})};
}

Json performance_json(const Performance& performance, const Benchmark& benchmark, const DeviceComparison& comparison,
                      const RunContext& context) {
  const MeasuringResult& measured = performance.measured;
  Json parts = {{"reading", measured.seconds.reading}};
  for (std::size_t k = 0; k < kStageNames.size(); ++k) parts[std::string(kStageNames[k])] = measured.seconds.parts[k];
  parts["trajectories"] = measured.seconds.trajectories;
  const auto stages = [&](double StageTime::*which) {
    return Json{{"finding", performance.finding.*which},
                {"normalizing", performance.normalizing.*which},
                {"measuring", performance.measuring.*which},
                {"statistics", performance.statistics.*which},
                {"separability", performance.separability.*which},
                {"writing", performance.writing.*which},
                {"all", performance.all.*which}};
  };
  Json out = {{kJsonMark, "latents-performance"},
              {"seconds", stages(&StageTime::elapsed_s)},
              {"cpu_seconds", stages(&StageTime::cpu_s)},
              {"latents_measured", measured.latents},
              {"bytes_measured", performance.bytes_measured},
              {"thread_seconds_by_part", parts},
              {"threads", context.executor.threads()},
              {"cpu_level", name_of(current_cpu_level())},
              {"peak_memory_bytes", peak_memory()}};
  if (measured.latents > 0 && performance.measuring.elapsed_s > 0) {
    out["latents_per_second"] = static_cast<double>(measured.latents) / performance.measuring.elapsed_s;
    out["bytes_per_second"] = static_cast<double>(performance.bytes_measured) / performance.measuring.elapsed_s;
  }
  if (!comparison.sides.empty()) out["compare"] = json_of(comparison);
  if (benchmark.rows.empty()) return out;
  Json rows = Json::array();
  for (const BenchmarkRow& row : benchmark.rows) {
    rows.push_back({{"cpu_level", row.cpu_level},
                    {"threads", row.threads},
                    {"seconds", row.seconds},
                    {"ms_per_latent", row.seconds * 1000 / static_cast<double>(benchmark.latents)},
                    {"same_numbers", row.is_same}});
  }
  out["benchmark"] = {{"latents", benchmark.latents}, {"rows", rows}};
  return out;
}

}  // namespace millrace::latents
