#include "src/kernels/latents/latents_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "src/base/error.h"
#include "src/base/mutex.h"
#include "src/base/stopwatch.h"
#include "src/device/batches.h"
#include "src/kernels/latents/latents_entries.h"
#include "src/kernels/latents/latents_memory.h"
#include "src/kernels/latents/latents_test_vectors.h"
#include "src/memory/object_pool.h"

namespace millrace::latents {
namespace {

// Largest number of bytes on the device at once: some two hundred latents of [16, 16, 60, 106]. More of them make
// nothing faster.
constexpr std::uint64_t kMaxBytes = std::uint64_t{6} << 30;
// Largest number of bytes of measures that wait for a check.
constexpr std::uint64_t kMaxWaiting = std::uint64_t{64} << 20;

// Measures of a batch, as the device made them.
struct Batch {
  std::uint64_t begin = 0;
  std::vector<Measures> measures;
};

// Buffers with which one thread finishes sums.
struct Finisher {
  explicit Finisher(const BatchPlan& plan) : sums(plan.shape), spectrum(plan.spectra.scratch_doubles()) {
    sums.power.resize(plan.spectra.bins());
    sums.image_power.resize(plan.spectra.image_bins());
    sums.clear();
  }
  static std::uint64_t bytes(const BatchPlan& plan) {
    return 8 * (plan.room.sums + plan.spectra.scratch_doubles() + plan.spectra.image_bins()) + 4 * plan.room.counts +
           sizeof(PatchCounts) + (std::uint64_t{1} << 17);
  }

  Sums sums;
  BinCounts binned;
  Buffer<double> spectrum;
  CountLogs logs;
};

// Bytes held per latent: of its sums, which are pinned; and of these together with its measures.
std::uint64_t pinned_each(const BatchPlan& plan) { return 8 * plan.room.sums + 4 * plan.room.counts; }
std::uint64_t measures_each(const BatchPlan& plan) { return pinned_each(plan) + sizeof(Measures); }

bool on_device_memory(const ArrayView& latent) { return latent.memory == MemoryKind::device; }

const std::uint8_t* end_of(const ArrayView& latent, std::uint64_t elements) {
  return static_cast<const std::uint8_t*>(latent.data) + elements * latent.type.bytes();
}

}  // namespace

struct DeviceAnalyzer::State {
  State(const LatentShape& shape, const MetricSelection& wanted, const Executor& executor, Accelerator& accelerator,
        Budget& budget)
      : plan(shape, wanted),
        executor(executor),
        accelerator(accelerator),
        budget(budget),
        reservation_on_cpu(budget.reserve(DeviceAnalyzer::bytes_on_cpu(shape), "latents measured on the CPU")),
        finishers([this] { return std::make_unique<Finisher>(plan); }) {}

  void measure(std::span<const ArrayView> all, std::span<Measures> to);
  void check(const ArrayView& latent);
  // Returns the end of the latents from `begin` on that are measured together.
  std::uint64_t end_of_run(std::uint64_t begin) const;
  Batch on_device(std::uint64_t begin, std::uint64_t end);
  bool finish_one(std::size_t which, Measures& out);
  bool same(const Batch& batch);
  // Measures these latents on the CPU and calls keep(place in `which`, measures).
  template <typename Keep>
  void by_cpu(const std::vector<std::uint64_t>& which, const Keep& keep);
  // Calls body(view of the latent in the host's memory).
  template <typename Body>
  void with_host_view(const ArrayView& latent, const Body& body);
  void stop_if_cancelled() const {
    if (executor.cancelled()) throw Failure(interrupted());
  }

  const BatchPlan plan;
  const Executor& executor;
  Accelerator& accelerator;
  Budget& budget;
  const Reservation reservation_on_cpu;  // memory for one latent; a later call might not get it
  std::optional<BatchMemory> memory;
  std::optional<Queue> reading;  // reads latents that lie on the device
  Mutex reading_mutex;
  ObjectPool<Finisher> finishers;
  std::optional<Reservation> finishing;  // memory of the finishers
  LatentCounts counts;
  std::span<const ArrayView> latents;  // latents of the current call
};

DeviceAnalyzer::DeviceAnalyzer(const LatentShape& shape, const MetricSelection& wanted, const Executor& executor,
                               Accelerator& accelerator, Budget& budget) {
  check(shape);
  state_ = std::make_unique<State>(shape, wanted, executor, accelerator, budget);
}
DeviceAnalyzer::~DeviceAnalyzer() = default;

const LatentCounts& DeviceAnalyzer::counts() const { return state_->counts; }

void DeviceAnalyzer::measure(std::span<const ArrayView> latents, std::span<Measures> out) {
  state_->measure(latents, out);
}

Bytes DeviceAnalyzer::bytes_on_cpu(const LatentShape& shape) {
  return {Analyzer::bytes(shape) + shape.elements() * sizeof(float)};
}

std::uint64_t DeviceAnalyzer::device_bytes(const LatentShape& shape, const MetricSelection& wanted,
                                           std::size_t value_bytes) {
  const BatchPlan plan(shape, wanted);
  return plan.room.bytes() + plan.room.values * value_bytes;
}

std::uint64_t DeviceAnalyzer::host_bytes(const LatentShape& shape, const MetricSelection& wanted, std::uint64_t latents,
                                         int threads) {
  const BatchPlan plan(shape, wanted);
  return (pinned_each(plan) + measures_each(plan)) * latents +
         Finisher::bytes(plan) * static_cast<std::uint64_t>(threads);
}

void DeviceAnalyzer::State::check(const ArrayView& latent) {
  if (!on_device_memory(latent)) {
    source_of(latent, plan.shape.elements());
    return;
  }
  ArrayView as_if = latent;
  as_if.memory = MemoryKind::host;
  source_of(as_if, plan.shape.elements());
  if (reinterpret_cast<std::uintptr_t>(latent.data) % latent.type.bytes() != 0) {
    throw Failure(ErrorCode::usage, fmt::format("its address is not a multiple of {} bytes", latent.type.bytes()),
                  "view", "copy it to aligned memory");
  }
  accelerator.adopt(latent.data, {plan.shape.elements() * latent.type.bytes()}, "view");
}

std::uint64_t DeviceAnalyzer::State::end_of_run(std::uint64_t begin) const {
  const ArrayView& first = latents[begin];
  std::uint64_t end = begin + 1;
  while (end < latents.size() && latents[end].type == first.type &&
         on_device_memory(latents[end]) == on_device_memory(first) &&
         (!on_device_memory(first) || end_of(latents[end - 1], plan.shape.elements()) == latents[end].data)) {
    ++end;
  }
  return end;
}

void DeviceAnalyzer::State::measure(std::span<const ArrayView> all, std::span<Measures> out) {
  if (all.size() != out.size()) {
    throw Failure(ErrorCode::usage, fmt::format("{} latents, but room for {} results", all.size(), out.size()), "views",
                  "");
  }
  if (all.empty()) return;
  latents = all;
  for (const ArrayView& latent : latents) check(latent);
  const auto keep_by_cpu = [&](std::uint64_t begin, std::uint64_t end) {
    // Memory of a device that was struck out is freed for the CPU.
    if (accelerator.is_excluded()) memory.reset();
    std::vector<std::uint64_t> which;
    for (std::uint64_t i = begin; i < end; ++i) which.push_back(i);
    by_cpu(which, [&](std::size_t at, Measures& measures) { out[begin + at] = std::move(measures); });
    counts.by_cpu += end - begin;
  };
  if (plan.most() == 0)
    accelerator.record_fallback("latents whose arrays have 2^31 elements or more are measured on the CPU");
  if (!accelerator.is_allowed(bodies::latents()))
    accelerator.record_fallback("nobody has attested its kernels for this hardware, and nobody asked for it by name");
  if (plan.most() == 0 || !accelerator.prepare_kernels(bodies::latents(), kEntries, gives_known_answers)) {
    keep_by_cpu(0, latents.size());
    stop_if_cancelled();
    return;
  }
  BatchedWork<Batch> work;
  work.items = latents.size();
  const std::uint64_t held = memory ? memory->held() : 0;
  work.most = std::clamp<std::uint64_t>((accelerator.free_memory().count + held) / 2, 1, kMaxBytes);
  work.checked = work.most;  // some of which are checked
  work.sampled = true;
  work.cut = [this](std::uint64_t begin, std::uint64_t amount) {
    const std::uint64_t values = on_device_memory(latents[begin]) ? 0 : plan.room.values * latents[begin].type.bytes();
    const std::uint64_t fit = std::clamp<std::uint64_t>(amount / (plan.room.bytes() + values), 1, plan.most());
    return std::min(end_of_run(begin), begin + fit);
  };
  work.on_device = [this](std::uint64_t begin, std::uint64_t end) { return on_device(begin, end); };
  // Latents are measured by the CPU when they are compared: see same().
  work.on_cpu = [](std::uint64_t begin, std::uint64_t) { return Batch{begin, {}}; };
  work.same = [this](Batch& batch, Batch&) { return same(batch); };
  work.keep = [&](Batch batch) {
    counts.by_device += batch.measures.size();
    std::move(batch.measures.begin(), batch.measures.end(), out.begin() + static_cast<std::ptrdiff_t>(batch.begin));
  };
  work.keep_by_cpu = keep_by_cpu;
  work.weight = [this](const Batch& batch) { return batch.measures.size() * measures_each(plan); };
  work.max_waiting = kMaxWaiting;
  run_batches(accelerator, work);
  stop_if_cancelled();
}

Batch DeviceAnalyzer::State::on_device(std::uint64_t begin, std::uint64_t end) {
  stop_if_cancelled();
  const auto of = latents.subspan(begin, end - begin);
  if (!finishing) {
    finishing.emplace(
        budget.reserve({Finisher::bytes(plan) * static_cast<std::uint64_t>(executor.threads())}, "finishing latents"));
  }
  const Reservation reservation = budget.reserve({measures_each(plan) * of.size()}, "results of latents");
  if (!memory) memory.emplace(plan, accelerator);
  memory->run(of, executor);
  const Stopwatch watch;
  Batch out{begin, std::vector<Measures>(of.size())};
  std::vector<std::uint8_t> finite(of.size(), 0);
  executor.parallel_for(of.size(), 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) finite[i] = finish_one(i, out.measures[i]) ? 1 : 0;
  });
  // Cancelling may have cut the loop short.
  stop_if_cancelled();
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (finite[i] != 0) continue;
    with_host_view(of[i], [&](const ArrayView& view) {
      out.measures[i] = mark_not_finite(source_of(view, plan.shape.elements()), plan.shape.elements());
    });
  }
  counts.finishing_s += watch.seconds();
  return out;
}

// Returns false if the sums are not finite.
bool DeviceAnalyzer::State::finish_one(std::size_t which, Measures& out) {
  const auto own = finishers.take();
  plan.read(memory->sums(which), memory->counts(which), own->sums, own->binned);
  for (const TimeSums& time : own->sums.times)
    if (!std::isfinite(time.magnitude)) return false;
  if (plan.wanted.flatness)
    image_spectrum(plan.spectra, own->sums.image.data(), own->spectrum.data(), own->sums.image_power.data());
  finish(own->sums, own->binned, plan.spectra, plan.metrics, own->logs, out);
  return true;
}

bool DeviceAnalyzer::State::same(const Batch& batch) {
  const std::vector<std::uint64_t> asked =
      select_compared_items(batch.begin, batch.measures.size(), accelerator.options().verify);
  std::vector<std::uint8_t> right(asked.size(), 0);
  by_cpu(asked, [&](std::size_t at, const Measures& truth) {
    right[at] = same_bits(batch.measures[asked[at] - batch.begin], truth) ? 1 : 0;
  });
  // A comparison that was cut short by cancelling is no evidence against the device, and its results are not used.
  stop_if_cancelled();
  counts.compared += asked.size();
  return std::find(right.begin(), right.end(), 0) == right.end();
}

template <typename Body>
void DeviceAnalyzer::State::with_host_view(const ArrayView& latent, const Body& body) {
  if (!on_device_memory(latent)) return body(latent);
  Buffer<std::byte> bytes(plan.shape.elements() * latent.type.bytes());
  {
    const MutexLock lock(reading_mutex);
    if (!reading) reading.emplace(accelerator);
    const auto from = DeviceBuffer<std::byte>::adopt(accelerator, latent.data, bytes.size(), "view");
    reading->download(from, bytes.span());
  }
  ArrayView view = latent;
  view.data = bytes.data();
  view.memory = MemoryKind::host;
  body(view);
}

template <typename Keep>
void DeviceAnalyzer::State::by_cpu(const std::vector<std::uint64_t>& which, const Keep& keep) {
  // Number of latents at a time: as many as threads, or as the memory allows beside what is reserved for one.
  if (which.empty()) return;
  std::size_t more = std::min<std::size_t>(which.size(), static_cast<std::size_t>(executor.threads())) - 1;
  Reservation reservation;
  try {
    if (more > 0)
      reservation = budget.reserve_up_to(DeviceAnalyzer::bytes_on_cpu(plan.shape), more, "latents measured on the CPU");
  } catch (const OutOfMemory&) {
    more = 0;
  }
  const std::size_t step = 1 + more;
  ObjectPool<Analyzer> analyzers([this] { return std::make_unique<Analyzer>(plan.shape, plan.metrics); });
  for (std::size_t from = 0; from < which.size(); from += step) {
    executor.parallel_for(std::min(step, which.size() - from), 1, [&](std::size_t begin, std::size_t end) {
      const auto analyzer = analyzers.take();
      for (std::size_t at = from + begin; at < from + end; ++at) {
        Measures measures;
        with_host_view(latents[which[at]], [&](const ArrayView& view) { analyzer->measure(view, measures); });
        keep(at, measures);
      }
    });
  }
}

}  // namespace millrace::latents
