#include "src/jobs/latents/normalize.h"

#include <algorithm>
#include <cmath>

#include "src/memory/pool.h"

namespace millrace::latents {

Normalization normalization_of(const Options& options, const LatentSet& set, RunContext& context) {
  Normalization out;
  out.how = options.normalize;
  if (out.how != Normalize::step) return out;
  const Normalization as_they_are;
  const std::uint64_t each = reading_memory(set, Normalize::none);
  const Reservation paid = context.budget.reserve(Bytes{each * static_cast<std::uint64_t>(context.executor.threads())},
                                                  "the statistics of steps");
  Pool<LatentReader> readers([&] { return std::make_unique<LatentReader>(as_they_are); });
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
  std::map<long long, std::vector<ChannelMoments>> of_steps;
  for (std::size_t i = 0; i < found.size(); ++i) {
    auto& all = of_steps[set.files[i].step];
    all.resize(found[i].size());
    const bool finite = std::all_of(found[i].begin(), found[i].end(),
                                    [](const ChannelMoments& moments) { return std::isfinite(moments.squares); });
    for (std::size_t c = 0; finite && c < all.size(); ++c) all[c].join(found[i][c]);
  }
  for (const auto& [step, moments] : of_steps)
    for (const ChannelMoments& own : moments) out.of_steps[step].push_back(standardizing(own));
  return out;
}

}  // namespace millrace::latents
