#include "src/jobs/latents/analysis/separability.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>

#include "src/base/text.h"
#include "src/io/file/file_reader.h"
#include "src/kernels/statistics/separability.h"
#include "src/memory/buffer.h"
#include "src/memory/object_pool.h"
#include "src/pipeline/progress.h"

namespace millrace::latents {
namespace {

// Largest number of videos at a step: distances are between all pairs, and components take time in the cube of the
// number.
// docs/design/latents-statistics.md gives the reasons for the constants of this file.
constexpr std::size_t kMaxSamples = 2000;

// Returns how many features fit half of `room`: all of them, or as many whole slices as fit, at least one.
std::size_t count_features_per_pass(std::size_t features, std::size_t samples, Bytes room) {
  constexpr std::size_t kSlice = statistics::FeatureProducts::kSlice;
  const std::size_t slices = room.count / 2 / (sizeof(float) * samples) / kSlice;
  return std::min(features, std::max<std::size_t>(1, slices) * kSlice);
}

class FeatureReader {
 public:
  FeatureReader(const LatentSet& set, const Normalization& normalization, RunContext& context, const LatentShape& shape)
      : set_(set),
        context_(context),
        shape_(shape),
        features_(feature_count(shape)),
        readers_([&] { return std::make_unique<LatentReader>(normalization); }),
        group_of_(set.group_numbers()) {}

  std::size_t features() const { return features_; }

  // Returns features [first, first + count) of every sample, side by side. Sets `used` to 1 for samples that are finite
  // and no copy of an earlier sample of their group. A sample that is counted twice makes a difference look more
  // certain.
  std::span<float> read(const std::vector<std::size_t>& rows, std::size_t first, std::size_t count,
                        std::vector<char>& used, Progress& progress) {
    values_.resize(rows.size() * count);
    used.assign(rows.size(), 0);
    hashes_.assign(rows.size(), 0);
    context_.executor.parallel_for(rows.size(), 1, [&](std::size_t begin, std::size_t end) {
      const auto reader = readers_.take();
      std::vector<float> own(features_);
      for (std::size_t i = begin; i < end && !context_.cancel.cancelled(); ++i) {
        compute_features(reader->read(set_.files[rows[i]]), shape_, own);
        // A latent with NaN or infinity is found by its features: its sum of magnitudes and its range are not finite.
        used[i] = std::all_of(own.begin(), own.end(), [](float value) { return value - value == 0; });
        hashes_[i] = short_hash({reinterpret_cast<const std::uint8_t*>(own.data()), own.size() * sizeof(float)});
        std::copy_n(own.begin() + static_cast<std::ptrdiff_t>(first), count, values_.data() + i * count);
        progress.add(1, set_.files[rows[i]].bytes());
      }
    });
    context_.throw_if_cancelled();
    finite_ = static_cast<std::size_t>(std::count(used.begin(), used.end(), 1));
    std::set<std::pair<std::uint32_t, std::uint64_t>> known;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (used[i] != 0 && !known.emplace(group_of_[set_.files[rows[i]].video], hashes_[i]).second) used[i] = 0;
    return values_.span();
  }
  // Number of finite samples in the last read().
  std::size_t finite_count() const { return finite_; }

 private:
  const LatentSet& set_;
  RunContext& context_;
  const LatentShape shape_;
  const std::size_t features_;
  ObjectPool<LatentReader> readers_;
  const std::vector<std::uint32_t> group_of_;
  Buffer<float> values_;
  std::vector<std::uint64_t> hashes_;
  std::size_t finite_ = 0;
};

// Moves the used samples to the front of `values` and returns them; `each` is the number of features per sample.
std::span<float> keep_used(std::span<float> values, std::size_t each, const std::vector<char>& used) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i] == 0) continue;
    if (kept != i) std::copy_n(values.data() + i * each, each, values.data() + kept * each);
    ++kept;
  }
  return values.first(kept * each);
}

// Returns ", and no latent of group a, b is left", or an empty text if no group is left out.
std::string describe_missing_groups(const LatentSet& set, const SeparabilityResult& separability) {
  std::set<std::string> without, with;
  for (const StepSeparability& at : separability.steps)
    for (const std::size_t video : at.videos) with.insert(set.videos[video].group);
  for (const LatentVideo& video : set.videos)
    if (!with.contains(video.group)) without.insert(escape_unprintable(video.group));
  return without.empty() ? "" : fmt::format(", and no latent of group {} is left", fmt::join(without, ", "));
}

}  // namespace

Bytes estimate_separability_memory(const LatentsJobOptions& options, const LatentSet& set, int threads, Bytes room) {
  std::map<long long, std::size_t> counts;
  for (const LatentFile& latent : set.files) ++counts[latent.step];
  std::size_t most = 0;
  for (const auto& [step, count] : counts) most = std::max(most, count);
  const LatentShape shape = set.usual_shape();
  const std::uint64_t features = feature_count(shape);
  const std::uint64_t at_once = count_features_per_pass(features, most, room);
  const std::uint64_t each_thread = estimate_reading_memory(set, options.normalize) + 4 * features;
  // Memory of the Gram matrices and distances of both variants; the search for components works on a copy.
  const std::uint64_t distances = 6 * sizeof(double) * most * most;
  return Bytes{sizeof(float) * most * at_once + statistics::FeatureProducts::memory(most, threads) + distances +
               each_thread * static_cast<std::uint64_t>(threads)};
}

SeparabilityResult compute_separability(const LatentsJobOptions& options, const LatentSet& set,
                                        const Normalization& normalization, RunContext& context) {
  SeparabilityResult out;
  const LatentShape shape = set.usual_shape();
  FeatureReader separator(set, normalization, context, shape);
  out.features = separator.features();
  const std::vector<std::uint32_t> group_of = set.group_numbers();
  std::map<long long, std::vector<std::size_t>> steps;
  std::size_t other_frames = 0, not_finite = 0, copies = 0, most = 0;
  for (std::size_t row = 0; row < set.files.size(); ++row) {
    if (set.files[row].shape.frames == shape.frames) {
      auto& rows = steps[set.files[row].step];
      rows.push_back(row);
      most = std::max(most, rows.size());
    } else {
      ++other_frames;
    }
  }
  if (most > kMaxSamples) {
    out.notes.push_back(fmt::format("separability was not computed: too many videos at one step ({}; the limit is {})",
                                    group_digits(most), group_digits(kMaxSamples)));
    return out;
  }
  const std::size_t at_once = count_features_per_pass(out.features, most, context.budget.limit());
  const Reservation reservation = context.budget.reserve(
      estimate_separability_memory(options, set, context.executor.threads(), context.budget.limit()), "separability");
  const std::size_t passes = (out.features + at_once - 1) / at_once;
  Progress progress(context.progress, "separability", passes * (set.files.size() - other_frames));
  const auto seed = static_cast<std::uint64_t>(options.seed);
  std::vector<char> used;
  for (const auto& [step, rows] : steps) {
    StepSeparability found;
    found.step = step;
    std::optional<statistics::FeatureProducts> products;
    for (std::size_t first = 0; first < out.features; first += at_once) {
      const std::size_t count = std::min(at_once, out.features - first);
      const std::span<float> values = separator.read(rows, first, count, used, progress);
      const std::span<float> kept = keep_used(values, count, used);
      if (!products) products.emplace(kept.size() / count);
      products->add(kept, context.executor);
    }
    not_finite += rows.size() - separator.finite_count();
    copies += separator.finite_count() - products->samples();
    if (products->samples() == 0) continue;
    std::vector<std::uint32_t> groups;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (used[i] == 0) continue;
      found.videos.push_back(set.files[rows[i]].video);
      groups.push_back(group_of[found.videos.back()]);
    }
    found.found = statistics::separability(*products, groups, seed, static_cast<std::uint32_t>(step), kPermutations,
                                           context.executor);
    context.throw_if_cancelled();
    out.steps.push_back(std::move(found));
  }
  const auto has_p = [](const StepSeparability& at) { return at.found.standardized.p == at.found.standardized.p; };
  const auto tested = static_cast<double>(std::count_if(out.steps.begin(), out.steps.end(), has_p));
  for (StepSeparability& at : out.steps)
    if (has_p(at)) at.corrected_p = std::min(1.0, at.found.standardized.p * tested);
  if (other_frames > 0) {
    out.notes.push_back(
        fmt::format("separability uses only latents of {} frames: {} with another number of frames are left out{}",
                    shape.frames, group_digits(other_frames), describe_missing_groups(set, out)));
  }
  if (copies > 0) {
    out.notes.push_back(fmt::format(
        "separability leaves out {} latents that are copies of another of their group and step", group_digits(copies)));
  }
  if (not_finite > 0)
    out.notes.push_back(fmt::format("separability leaves out {} latents that are not finite (NaN or infinity)",
                                    group_digits(not_finite)));
  return out;
}

}  // namespace millrace::latents
