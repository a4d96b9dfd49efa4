#include "src/jobs/latents/normalize.h"

#include <algorithm>
#include <cmath>

#include "src/memory/object_pool.h"

namespace millrace::latents {

Normalization compute_normalization(const LatentsJobOptions& options, const LatentSet& set, RunContext& context) {
  Normalization out;
  out.method = options.normalize;
  if (out.method != Normalize::step) return out;
  const Normalization as_they_are;
  const std::uint64_t each = estimate_reading_memory(set, Normalize::none);
  const Reservation reservation = context.budget.reserve(
      Bytes{each * static_cast<std::uint64_t>(context.executor.threads())}, "the statistics of steps");
  ObjectPool<LatentReader> readers([&] { return std::make_unique<LatentReader>(as_they_are); });
  std::vector<std::vector<ChannelMoments>> found(set.files.size());
  Progress progress(context.progress, "statistics of steps", set.files.size());
  context.executor.parallel_for(set.files.size(), 1, [&](std::size_t begin, std::size_t end) {
    const auto reader = readers.take();
    for (std::size_t i = begin; i < end && !context.cancel.cancelled(); ++i) {
      found[i] = channel_moments(reader->read(set.files[i]), set.files[i].shape);
      progress.add(1, set.files[i].bytes());
    }
  });
  context.throw_if_cancelled();
  // Moments are joined in the order of the latents, whichever thread was ready first.
  std::map<long long, std::vector<ChannelMoments>> by_step;
  for (std::size_t i = 0; i < found.size(); ++i) {
    auto& all = by_step[set.files[i].step];
    all.resize(found[i].size());
    const bool finite = std::all_of(found[i].begin(), found[i].end(),
                                    [](const ChannelMoments& moments) { return std::isfinite(moments.squares); });
    for (std::size_t c = 0; finite && c < all.size(); ++c) all[c].join(found[i][c]);
  }
  for (const auto& [step, moments] : by_step)
    for (const ChannelMoments& own : moments) out.by_step[step].push_back(make_standardization(own));
  return out;
}

}  // namespace millrace::latents
