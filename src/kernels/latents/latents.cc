#include "src/kernels/latents/latents.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "src/base/error.h"
#include "src/kernels/latents/latents_finish.h"

namespace millrace::latents {
LatentSource source_of(const ArrayView& latent, std::size_t elements) {
  const bool half = latent.type == kFloat16;
  if (!half && latent.type != kFloat32) {
    throw Failure(ErrorCode::usage, "type not supported: expected float16 or float32", name_of(latent.type),
                  "convert it first");
  }
  if (!latent.contiguous() || latent.memory == MemoryKind::device ||
      latent.elements() != static_cast<std::int64_t>(elements)) {
    throw Failure(ErrorCode::usage, fmt::format("expected {} elements without gaps, in host memory", elements), "view",
                  "");
  }
  return {latent.data, half};
}

// Clock that adds the time that passes to the seconds of a part.
class StageClock {
 public:
  explicit StageClock(StageSeconds& seconds) : seconds_(seconds) {}
  // Adds the time since the last call to this part.
  void lap(AnalysisStage part) {
    const auto now = std::chrono::steady_clock::now();
    seconds_[static_cast<std::size_t>(part)] += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

 private:
  StageSeconds& seconds_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

struct Analyzer::State {
  State(const LatentShape& shape, const MetricSelection& metrics)
      : selection(metrics),
        wanted(metrics),
        sums(shape),
        plan(shape.height, shape.width),
        lanes(static_cast<std::size_t>(shape.frames)),
        planes(shape.pixels() * kLanes * sums.groups),
        patch(patch_scratch(shape.height, shape.width)),
        spectrum(plan.scratch_floats()),
        power(plan.bins() * kLanes),
        image_spectrum(plan.scratch_doubles()) {
    sums.power.resize(plan.bins());
    sums.image_power.resize(plan.image_bins());
    for (auto& channel : bins) channel.resize(shape.pixels());
  }

  float* plane(std::size_t group) { return planes.data() + group * sums.shape.pixels() * kLanes; }

  void throw_if_cancelled() const {
    if (cancel != nullptr && cancel->cancelled()) throw Failure(interrupted("nothing was kept"));
  }
  // Returns false if a value, or a sum of values, is not finite.
  bool sum(const LatentSource& source);
  void count(const LatentSource& source);

  const MetricSelection selection;
  const RequiredSums wanted;
  const CancelToken* cancel = nullptr;  // token of the current call
  StageSeconds seconds{};
  Sums sums;
  const SpectrumPlan plan;
  TimeSums::Lanes lanes;
  Buffer<float> planes, patch, spectrum;  // planes of one frame: [groups, height, width, 16]
  Buffer<float> power;                    // [radii + 1, height, 16], over all groups
  Buffer<double> image_spectrum;
  std::array<std::vector<std::uint16_t>, kCountedChannels> bins;
  PairCounter pairs;
  BinCounts binned;
  CountLogs logs;
};

bool Analyzer::State::sum(const LatentSource& source) {
  const LatentShape& shape = sums.shape;
  const auto frames = static_cast<std::size_t>(shape.frames);
  StageClock clock(seconds);
  sums.clear();
  std::fill(power.begin(), power.end(), 0.0F);
  find_pilots(source, shape, std::span(sums.pilots).first(static_cast<std::size_t>(shape.channels)));
  for (int c = 0; c < shape.channels; ++c) {
    throw_if_cancelled();
    TimeSums& time = sums.times[static_cast<std::size_t>(c)];
    sum_over_time(source, shape, c, sums.pilots[static_cast<std::size_t>(c)], lanes, time,
                  wanted.flatness ? sums.image.data() : nullptr, nullptr);
    if (!std::isfinite(time.magnitude)) return false;
  }
  clock.lap(AnalysisStage::time);
  for (std::size_t f = 0; f < frames; ++f) {
    for (std::size_t g = 0; g < sums.groups; ++g)
      gather_plane(source, shape, static_cast<int>(g), static_cast<int>(f), sums.pilots.data(), plane(g));
    clock.lap(AnalysisStage::turning);
    for (std::size_t g = 0; g < sums.groups; ++g) {
      throw_if_cancelled();
      const float* const own = plane(g);
      sum_plane(own, shape.height, shape.width, sums.planes[g * frames + f]);
      clock.lap(AnalysisStage::pointwise);
      if (wanted.patches) {
        const std::size_t channels = std::min(kLanes, static_cast<std::size_t>(shape.channels) - g * kLanes);
        sum_patches(own, shape.height, shape.width, channels, patch.data(), sums.patches[g * frames + f],
                    sums.patch_counts);
      }
      clock.lap(AnalysisStage::patches);
      for (std::size_t other = g; wanted.products && other < sums.groups; ++other) {
        add_products(own, plane(other), shape.height, shape.width,
                     sums.products.data() + ((f * sums.groups + g) * sums.groups + other) * kLanes * kLanes);
      }
      clock.lap(AnalysisStage::products);
      if (wanted.spectra && plan.radii > 0) add_spectrum(plan, own, spectrum.data(), power.data());
      clock.lap(AnalysisStage::spectra);
    }
  }
  if (wanted.spectra) total_power(plan, power.data(), sums.power.data());
  if (wanted.flatness) latents::image_spectrum(plan, sums.image.data(), image_spectrum.data(), sums.image_power.data());
  clock.lap(AnalysisStage::spectra);
  return true;
}

void Analyzer::State::count(const LatentSource& source) {
  const LatentShape& shape = sums.shape;
  const std::size_t pixels = shape.pixels(), channels = counted_channels(shape);
  const auto frames = static_cast<std::size_t>(shape.frames);
  std::array<ValueRange, kCountedChannels> whole{};
  binned.density.clear();
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t f = 0; f < frames; ++f) {
      throw_if_cancelled();
      const std::size_t at = (c * frames + f) * pixels;
      const ValueRange range = find_range(source, at, pixels);
      if (wanted.density)
        binned.density.push_back(count_bins(source, at, pixels, Thresholds(even_edges(range.low, range.high))));
      if (f == 0) whole[c] = range;
      whole[c] = {std::min(whole[c].low, range.low), std::max(whole[c].high, range.high)};
    }
  }
  if (channels < 2) return;
  const auto count_pairs = [&](const std::array<Edges, kCountedChannels>& edges, PairTables& out) {
    pairs.clear();
    std::vector<Thresholds> thresholds;
    for (std::size_t c = 0; c < channels; ++c) thresholds.emplace_back(edges[c]);
    std::array<const std::uint16_t*, kCountedChannels> found{};
    for (std::size_t f = 0; f < frames; ++f) {
      throw_if_cancelled();
      for (std::size_t c = 0; c < kCountedChannels; ++c) {
        if (c < channels) find_bins(source, (c * frames + f) * pixels, pixels, thresholds[c], bins[c].data());
        found[c] = bins[c].data();
      }
      pairs.add(found, pixels);
    }
    out = pairs.pairs();
  };
  std::array<Edges, kCountedChannels> even{}, published{};
  for (std::size_t c = 0; c < channels; ++c) {
    even[c] = even_edges(whole[c].low, whole[c].high);
    published[c] = published_edges(whole[c].low, whole[c].high);
  }
  if (wanted.mutual) count_pairs(even, binned.even);
  if (wanted.mutual_published) count_pairs(published, binned.published);
}

void check(const LatentShape& shape) {
  const auto between = [](int side, int most) { return side >= 1 && side <= most; };
  if (!between(shape.channels, kMaxChannels) || !between(shape.frames, kMaxFrames) ||
      !between(shape.height, kMaxSide) || !between(shape.width, kMaxSide)) {
    throw Failure(
        ErrorCode::usage,
        fmt::format("[{}, {}, {}, {}] is not supported: the limits are {} channels, {} frames and sides of {}",
                    shape.channels, shape.frames, shape.height, shape.width, kMaxChannels, kMaxFrames, kMaxSide),
        "shape", "");
  }
}

Analyzer::Analyzer(const LatentShape& shape, const MetricSelection& wanted) {
  check(shape);
  state_ = std::make_unique<State>(shape, wanted);
}
Analyzer::~Analyzer() = default;
Analyzer::Analyzer(Analyzer&&) noexcept = default;
Analyzer& Analyzer::operator=(Analyzer&&) noexcept = default;

void Analyzer::measure(const ArrayView& latent, Measures& out, const CancelToken* cancel) {
  state_->cancel = cancel;
  const LatentSource source = source_of(latent, state_->sums.shape.elements());
  if (!state_->sum(source)) {
    out = mark_not_finite(source, state_->sums.shape.elements());
    return;
  }
  StageClock clock(state_->seconds);
  state_->count(source);
  clock.lap(AnalysisStage::histograms);
  finish(state_->sums, state_->binned, state_->plan, state_->selection, state_->logs, out);
  clock.lap(AnalysisStage::numbers);
}

const StageSeconds& Analyzer::seconds() const { return state_->seconds; }

std::uint64_t Analyzer::bytes(const LatentShape& shape) {
  const std::uint64_t groups = (static_cast<std::uint64_t>(shape.channels) + kLanes - 1) / kLanes;
  const auto frames = static_cast<std::uint64_t>(shape.frames);
  const SpectrumPlan plan(shape.height, shape.width);
  return shape.pixels() * groups * kLanes * sizeof(float) +
         (patch_scratch(shape.height, shape.width) + plan.scratch_floats() + plan.bins() * kLanes) * sizeof(float) +
         (plan.scratch_doubles() + plan.image_bins() + shape.pixels()) * sizeof(double) +
         frames * (groups * (sizeof(PlaneSums) + sizeof(PatchSums)) + 2 * sizeof(Sum)) +
         frames * static_cast<std::uint64_t>(shape.channels) * 2 * sizeof(double) +
         frames * groups * groups * kLanes * kLanes * sizeof(double) + shape.pixels() * kCountedChannels * 2 +
         (1U << 18);
}

}  // namespace millrace::latents
