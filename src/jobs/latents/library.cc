// What include/millrace/latents.h promises, by the same functions as the program's.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "include/millrace/latents.h"
#include "src/base/error.h"
#include "src/jobs/latents/analysis/analysis.h"
#include "src/jobs/latents/dataset.h"
#include "src/kernels/latents/latents.h"
#include "src/memory/buffer.h"

namespace millrace {
namespace {

std::string words_of(const ArrayView& view) {
  return fmt::format("{} [{}]", name_of(view.type), fmt::join(view.shape, ", "));
}

// Its axes as a latent's; a batch of one and the frame of an image are put in or taken away.
struct Axes {
  latents::Shape shape;
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
  const std::array<std::int64_t, 4> most = {latents::kMostChannels, latents::kMostFrames, latents::kMostSide,
                                            latents::kMostSide};
  bool fits =
      view.data != nullptr && readable && sides.size() == 4 && strides.size() == 4 && view.memory != MemoryKind::device;
  for (std::size_t i = 0; fits && i < 4; ++i) fits = sides[i] >= 1 && sides[i] <= most[i];
  if (!fits) {
    throw Failure(ErrorCode::usage,
                  fmt::format("a latent is [C, F, H, W] or [C, H, W] of float16, bfloat16, float32 or float64 in host "
                              "memory, up to {} channels, {} frames and sides of {}",
                              latents::kMostChannels, latents::kMostFrames, latents::kMostSide),
                  words_of(view), "");
  }
  return {
      {static_cast<int>(sides[0]), static_cast<int>(sides[1]), static_cast<int>(sides[2]), static_cast<int>(sides[3])},
      {strides[0], strides[1], strides[2], strides[3]}};
}

// Row after row, as `To`.
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

}  // namespace

struct LatentMeasurer::State {
  latents::Shape shape;
  std::unique_ptr<latents::Analyzer> analyzer;
  latents::Measures measures;
  Buffer<std::byte> gathered;
};

LatentMeasurer::LatentMeasurer() : state_(std::make_unique<State>()) {}
LatentMeasurer::~LatentMeasurer() = default;
LatentMeasurer::LatentMeasurer(LatentMeasurer&&) noexcept = default;
LatentMeasurer& LatentMeasurer::operator=(LatentMeasurer&&) noexcept = default;

LatentMeasures LatentMeasurer::measure(const ArrayView& latent) {
  const Axes axes = axes_of(latent);
  State& state = *state_;
  if (!state.analyzer || !(state.shape == axes.shape)) {
    state.analyzer = std::make_unique<latents::Analyzer>(axes.shape);
    state.shape = axes.shape;
  }
  ArrayView view = latent;
  view.strides.clear();
  view.shape = {axes.shape.channels, axes.shape.frames, axes.shape.height, axes.shape.width};
  if (latent.type == kBfloat16) {
    gather<std::uint16_t, float>(latent.data, axes, state.gathered,
                                 [](std::uint16_t v) { return std::bit_cast<float>(std::uint32_t{v} << 16); });
  } else if (latent.type == kFloat64) {
    gather<double, float>(latent.data, axes, state.gathered, [](double v) { return static_cast<float>(v); });
  } else if (!latent.contiguous() && latent.type == kFloat16) {
    gather<std::uint16_t, std::uint16_t>(latent.data, axes, state.gathered, [](std::uint16_t v) { return v; });
  } else if (!latent.contiguous()) {
    gather<float, float>(latent.data, axes, state.gathered, [](float v) { return v; });
  }
  if (latent.type == kBfloat16 || latent.type == kFloat64 || !latent.contiguous()) {
    view.data = state.gathered.data();
    view.type = latent.type == kFloat16 ? kFloat16 : kFloat32;
  }
  state.analyzer->measure(view, state.measures);
  LatentMeasures out;
  out.not_finite = state.measures.not_finite;
  for (std::size_t k = 0; k < latents::kMetricNames.size(); ++k)
    out.metrics.push_back({latents::kMetricNames[k], state.measures.values[k]});
  if (out.not_finite > 0) return out;
  for (const latents::Distribution& own : latents::distributions(latents::Chosen{}, axes.shape)) {
    std::vector<std::int64_t> shape = {static_cast<std::int64_t>(own.inner)};
    if (own.outer > 1) shape.insert(shape.begin(), static_cast<std::int64_t>(own.outer));
    out.distributions.push_back({own.name, std::move(shape), own.of(state.measures)});
  }
  return out;
}

std::vector<GroupDifference> compare_groups(const ArrayView& values, const std::vector<std::uint32_t>& groups,
                                            const CompareOptions& options) {
  if (values.type != kFloat64 || values.shape.size() != 2 || !values.contiguous() ||
      values.memory == MemoryKind::device || values.shape[0] != static_cast<std::int64_t>(groups.size())) {
    throw Failure(
        ErrorCode::usage,
        fmt::format("values are float64 [rows, columns] in host memory, row after row, of {} rows", groups.size()),
        words_of(values), "");
  }
  const std::set<std::uint32_t> distinct(groups.begin(), groups.end());
  const std::size_t count = distinct.size();
  if (!distinct.empty() && *distinct.rbegin() + std::size_t{1} != count) {
    throw Failure(ErrorCode::usage, "are numbers from 0 on without gaps",
                  fmt::format("{} groups up to {}", count, *distinct.rbegin()), "");
  }
  const Executor executor(options.threads);
  const auto columns = static_cast<std::size_t>(values.shape[1]);
  const statistics::Table table{
      {static_cast<const double*>(values.data), groups.size() * columns}, groups, columns, count};
  const std::vector<latents::PairTest> tests =
      latents::test_family(table, std::vector<std::uint8_t>(statistics::pairs_of(count).size() * columns, 1),
                           {options.seed, options.shuffles, options.replicates}, executor)
          .tests;
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
    own.reason = latents::words_of(test.comparison.reason);
    out.push_back(std::move(own));
  }
  return out;
}

}  // namespace millrace
