// Implements include/millrace/latents.h with the functions that the program uses.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <set>

#include "include/millrace/latents.h"
#include "src/base/error.h"
#include "src/jobs/callers_device.h"
#include "src/jobs/latents/analysis/analysis.h"
#include "src/jobs/latents/dataset.h"
#include "src/kernels/latents/latents_device.h"
#include "src/memory/buffer.h"
#include "src/memory/object_pool.h"

namespace millrace {
namespace {

std::string to_text(const ArrayView& view) {
  return fmt::format("{} [{}]", name_of(view.type), fmt::join(view.shape, ", "));
}

// Axes of a latent: a batch axis of 1 is removed, and an image gets an axis of one frame.
struct Axes {
  latents::LatentShape shape;
  std::array<std::int64_t, 4> strides{};  // in elements
};

Axes axes_of(const ArrayView& view) {
  std::vector<std::int64_t> sides = view.shape, strides = view.strides;
  if (strides.empty()) {
    strides.resize(sides.size());
    std::int64_t step = 1;
    for (std::size_t i = sides.size(); i-- > 0; step *= sides[i]) strides[i] = step;
  }
  const bool readable =
      view.type == kFloat16 || view.type == kBfloat16 || view.type == kFloat32 || view.type == kFloat64;
  if (strides.size() == 5 && sides.size() == 5 && sides.front() == 1) {
    sides.erase(sides.begin());
    strides.erase(strides.begin());
  }
  if (sides.size() == 3 && strides.size() == 3) {
    sides.insert(sides.begin() + 1, 1);
    strides.insert(strides.begin() + 1, 0);
  }
  const std::array<std::int64_t, 4> most = {latents::kMaxChannels, latents::kMaxFrames, latents::kMaxSide,
                                            latents::kMaxSide};
  const bool there = view.memory == MemoryKind::device;
  bool fits = view.data != nullptr && readable && sides.size() == 4 && strides.size() == 4 &&
              (!there || (view.contiguous() && (view.type == kFloat16 || view.type == kFloat32)));
  for (std::size_t i = 0; fits && i < 4; ++i) fits = sides[i] >= 1 && sides[i] <= most[i];
  if (!fits) {
    throw Failure(ErrorCode::usage,
                  fmt::format("not a supported latent; expected [C, F, H, W] or [C, H, W] of float16, bfloat16, "
                              "float32 or float64 in host memory, or contiguous float16 or float32 in device memory, "
                              "up to {} channels, {} frames and sides of {}",
                              latents::kMaxChannels, latents::kMaxFrames, latents::kMaxSide),
                  to_text(view), "");
  }
  return {
      {static_cast<int>(sides[0]), static_cast<int>(sides[1]), static_cast<int>(sides[2]), static_cast<int>(sides[3])},
      {strides[0], strides[1], strides[2], strides[3]}};
}

// Copies the elements row after row, converted to `To`.
template <typename From, typename To, typename Convert>
void gather(const void* data, const Axes& axes, Buffer<std::byte>& out, const Convert& convert) {
  out.resize(axes.shape.elements() * sizeof(To));
  auto* to = reinterpret_cast<To*>(out.data());
  const auto* const from = static_cast<const From*>(data);
  for (std::int64_t c = 0; c < axes.shape.channels; ++c) {
    for (std::int64_t f = 0; f < axes.shape.frames; ++f) {
      for (std::int64_t y = 0; y < axes.shape.height; ++y) {
        const From* const row = from + c * axes.strides[0] + f * axes.strides[1] + y * axes.strides[2];
        for (std::int64_t x = 0; x < axes.shape.width; ++x) *to++ = convert(row[x * axes.strides[3]]);
      }
    }
  }
}

// Returns the latent as it is, or a copy as float16 or float32, row after row.
ArrayView make_contiguous_view(const ArrayView& latent, const Axes& axes, Buffer<std::byte>& gathered) {
  ArrayView view = latent;
  view.strides.clear();
  view.shape = {axes.shape.channels, axes.shape.frames, axes.shape.height, axes.shape.width};
  if (latent.type == kBfloat16) {
    gather<std::uint16_t, float>(latent.data, axes, gathered,
                                 [](std::uint16_t v) { return std::bit_cast<float>(std::uint32_t{v} << 16); });
  } else if (latent.type == kFloat64) {
    gather<double, float>(latent.data, axes, gathered, [](double v) { return static_cast<float>(v); });
  } else if (!latent.contiguous() && latent.type == kFloat16) {
    gather<std::uint16_t, std::uint16_t>(latent.data, axes, gathered, [](std::uint16_t v) { return v; });
  } else if (!latent.contiguous()) {
    gather<float, float>(latent.data, axes, gathered, [](float v) { return v; });
  }
  if (latent.type == kBfloat16 || latent.type == kFloat64 || !latent.contiguous()) {
    view.data = gathered.data();
    view.type = latent.type == kFloat16 ? kFloat16 : kFloat32;
  }
  return view;
}

// Returns a view of each latent in [latents, ...].
std::vector<ArrayView> split_views(const ArrayView& latents) {
  if (latents.shape.size() < 4 || latents.shape.front() < 0 ||
      (!latents.strides.empty() && latents.strides.size() != latents.shape.size())) {
    throw Failure(ErrorCode::usage, "expected latents of shape [latents, C, F, H, W] or [latents, C, H, W]",
                  to_text(latents), "");
  }
  ArrayView one = latents;
  one.shape.erase(one.shape.begin());
  const std::int64_t step = latents.strides.empty() ? one.elements() : latents.strides.front();
  if (!latents.strides.empty()) one.strides.erase(one.strides.begin());
  std::vector<ArrayView> out;
  for (std::int64_t i = 0; i < latents.shape.front(); ++i) {
    out.push_back(one);
    out.back().data = static_cast<std::byte*>(latents.data) + i * step * static_cast<std::int64_t>(one.type.bytes());
  }
  return out;
}

LatentMeasures named(const latents::Measures& measures, const latents::LatentShape& shape) {
  LatentMeasures out;
  out.not_finite = measures.not_finite;
  for (std::size_t k = 0; k < latents::kMetricNames.size(); ++k)
    out.metrics.push_back({latents::kMetricNames[k], measures.values[k]});
  if (out.not_finite > 0) return out;
  for (const latents::Distribution& own : latents::distributions(latents::ChosenMetrics{}, shape)) {
    std::vector<std::int64_t> sides = {static_cast<std::int64_t>(own.inner)};
    if (own.outer > 1) sides.insert(sides.begin(), static_cast<std::int64_t>(own.outer));
    out.distributions.push_back({own.name, std::move(sides), own.of(measures)});
  }
  return out;
}

// Device that a measurer has opened, with the analyzer of the last shape.
struct LatentsDevice {
  LatentsDevice(const Device& device, const AcceleratorOptions& options) : accelerator(device, options, budget, trace) {
    if (!device.reason.empty()) accelerator.exclude_device(device.reason);
  }
  latents::DeviceAnalyzer& get_analyzer(const latents::LatentShape& of, const Executor& executor) {
    if (!analyzer || !(shape == of)) {
      drop_analyzer();
      analyzer = std::make_unique<latents::DeviceAnalyzer>(of, latents::every_metric(), executor, accelerator, budget);
      shape = of;
    }
    return *analyzer;
  }
  void drop_analyzer() {
    if (!analyzer) return;
    counts = all_counts();
    analyzer.reset();
  }
  latents::LatentCounts all_counts() const {
    latents::LatentCounts out = counts;
    if (!analyzer) return out;
    out.by_device += analyzer->counts().by_device;
    out.compared += analyzer->counts().compared;
    out.by_cpu += analyzer->counts().by_cpu;
    return out;
  }

  Budget budget{Bytes{std::numeric_limits<std::int64_t>::max()}};  // a caller of the library has no --memory
  Trace trace;
  Accelerator accelerator;
  latents::LatentShape shape;
  std::unique_ptr<latents::DeviceAnalyzer> analyzer;
  latents::LatentCounts counts;  // counts of earlier analyzers
};

}  // namespace

struct LatentMeasurer::State {
  explicit State(const LatentOptions& given)
      : device(given.device, given.verify_device, given.device_memory), executor(given.threads) {}

  // Returns the device that measures a latent, or null for the CPU alone.
  LatentsDevice* device_for(const ArrayView& latent) {
    if (latent.memory != MemoryKind::device) return device.named() ? &open(*device.named()) : nullptr;
    return &open(device.find_array_device(latent.device, "latent", "latents are measured"));
  }
  LatentsDevice& open(const Device& of) {
    std::unique_ptr<LatentsDevice>& out = opened[name_of(of)];
    if (!out) out = std::make_unique<LatentsDevice>(of, device.options());
    return *out;
  }

  // Measures latents of one shape.
  std::vector<latents::Measures> measure(const std::vector<ArrayView>& views, const Axes& axes,
                                         const CancelToken* cancel) {
    std::vector<latents::Measures> out(views.size());
    const Executor own_executor(executor, cancel);
    if (LatentsDevice* on = device_for(views.front()); on != nullptr) {
      // Some batches are measured at a time.
      constexpr std::size_t kLatentsAtOnce = 256;
      for (std::size_t at = 0; at < views.size(); at += kLatentsAtOnce) {
        own_executor.throw_if_cancelled("nothing was kept");
        const std::size_t count = std::min(kLatentsAtOnce, views.size() - at);
        std::vector<Buffer<std::byte>> gathered(count);
        std::vector<ArrayView> plain;
        for (std::size_t i = 0; i < count; ++i) plain.push_back(make_contiguous_view(views[at + i], axes, gathered[i]));
        on->get_analyzer(axes.shape, executor).measure(plain, std::span(out).subspan(at, count));
      }
      return out;
    }
    if (!(shape == axes.shape)) analyzers = {};
    shape = axes.shape;
    if (!analyzers) {
      analyzers = std::make_unique<ObjectPool<CpuMeasurer>>([of = shape] { return std::make_unique<CpuMeasurer>(of); });
    }
    own_executor.parallel_for(views.size(), 1, [&](std::size_t begin, std::size_t end) {
      const auto own = analyzers->take();
      for (std::size_t i = begin; i < end; ++i) {
        own->analyzer.measure(make_contiguous_view(views[i], axes, own->gathered), out[i], cancel);
      }
    });
    own_executor.throw_if_cancelled("nothing was kept");
    return out;
  }

  struct CpuMeasurer {
    explicit CpuMeasurer(const latents::LatentShape& of) : analyzer(of) {}
    latents::Analyzer analyzer;
    Buffer<std::byte> gathered;
  };

  const CallersDevice device;
  const Executor executor;
  latents::LatentShape shape;
  std::unique_ptr<ObjectPool<CpuMeasurer>> analyzers;
  std::map<std::string, std::unique_ptr<LatentsDevice>> opened;
};

LatentMeasurer::LatentMeasurer() : LatentMeasurer(LatentOptions{}) {}
LatentMeasurer::LatentMeasurer(const LatentOptions& options) : state_(std::make_unique<State>(options)) {}
LatentMeasurer::~LatentMeasurer() = default;
LatentMeasurer::LatentMeasurer(LatentMeasurer&&) noexcept = default;
LatentMeasurer& LatentMeasurer::operator=(LatentMeasurer&&) noexcept = default;

LatentMeasures LatentMeasurer::measure(const ArrayView& latent, const CancelToken* cancel) {
  const Axes axes = axes_of(latent);
  return named(state_->measure({latent}, axes, cancel).front(), axes.shape);
}

std::vector<LatentMeasures> LatentMeasurer::measure_all(const ArrayView& latents, const CancelToken* cancel) {
  const std::vector<ArrayView> views = split_views(latents);
  if (views.empty()) return {};
  const Axes axes = axes_of(views.front());
  std::vector<LatentMeasures> out;
  for (const latents::Measures& measures : state_->measure(views, axes, cancel))
    out.push_back(named(measures, axes.shape));
  return out;
}

LatentDeviceUse LatentMeasurer::device_use() const {
  LatentDeviceUse out;
  for (const auto& [name, on] : state_->opened) {
    const latents::LatentCounts counts = on->all_counts();
    out.device += fmt::format("{}{}", out.device.empty() ? "" : ", ", on->accelerator.title());
    out.measured += counts.by_device;
    out.compared += counts.compared;
    out.by_cpu += counts.by_cpu;
    const std::string why = explain_cpu_use(on->accelerator);
    if (!why.empty()) out.why += fmt::format("{}{}: {}", out.why.empty() ? "" : "; ", name, why);
  }
  return out;
}

std::vector<GroupDifference> compare_groups(const ArrayView& values, const std::vector<std::uint32_t>& groups,
                                            const CompareOptions& options) {
  if (values.type != kFloat64 || values.shape.size() != 2 || !values.contiguous() ||
      values.memory == MemoryKind::device || values.shape[0] != static_cast<std::int64_t>(groups.size())) {
    throw Failure(
        ErrorCode::usage,
        fmt::format("expected contiguous float64 values [rows, columns] in host memory, with {} rows", groups.size()),
        to_text(values), "");
  }
  const std::set<std::uint32_t> distinct(groups.begin(), groups.end());
  const std::size_t count = distinct.size();
  if (!distinct.empty() && *distinct.rbegin() + std::size_t{1} != count) {
    throw Failure(ErrorCode::usage, "group numbers must be 0, 1, 2, ... without gaps",
                  fmt::format("{} groups up to {}", count, *distinct.rbegin()), "");
  }
  const Executor executor(options.threads, options.cancel);
  const auto columns = static_cast<std::size_t>(values.shape[1]);
  const statistics::SampleTable table{
      {static_cast<const double*>(values.data), groups.size() * columns}, groups, columns, count};
  const std::vector<latents::PairTest> tests =
      latents::test_family(table, std::vector<std::uint8_t>(statistics::pairs_of(count).size() * columns, 1),
                           {options.seed, options.shuffles, options.replicates}, executor)
          .tests;
  if (executor.cancelled()) throw Failure(interrupted("nothing was kept"));
  const auto pairs = statistics::pairs_of(count);
  std::vector<GroupDifference> out;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    const latents::PairTest& test = tests[i];
    const auto& [a, b] = test.comparison.moments;
    GroupDifference own;
    own.first = pairs[i / columns].first;
    own.second = pairs[i / columns].second;
    own.column = i % columns;
    own.count = {a.count, b.count};
    own.mean = {a.mean, b.mean};
    own.deviation = {a.deviation, b.deviation};
    own.t = test.comparison.t;
    own.degrees_of_freedom = test.comparison.df;
    own.p = test.comparison.p;
    own.cohens_d = test.comparison.cohens_d;
    own.hedges_g = test.comparison.hedges_g;
    own.u = test.comparison.u;
    own.p_mann_whitney = test.comparison.u_p;
    own.p_permutation = test.permutation;
    own.p_familywise = test.familywise;
    own.p_holm = test.holm;
    own.p_benjamini_hochberg = test.benjamini_hochberg;
    own.interval = {test.comparison.difference.low, test.comparison.difference.high};
    own.bootstrap_interval = {test.bootstrap.low, test.bootstrap.high};
    own.reason = latents::to_text(test.comparison.reason);
    out.push_back(std::move(own));
  }
  return out;
}

}  // namespace millrace
