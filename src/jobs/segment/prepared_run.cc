#include "src/jobs/segment/prepared_run.h"

#include <algorithm>

#include "src/jobs/segment/collector.h"

namespace millrace::segment {

PreparedRun::PreparedRun(const Options& options, RunContext& context)
    : options_(options), context_(context), networks_(options, context), inputs_(find_inputs(options, context)) {
  if (options.min_dice) precision_decision_ = decide_precision(options, networks_.setup(), inputs_, context);
  networks_.compile(precision_decision_ ? precision_decision_->precision : options.network.precision, context);
}

Bytes PreparedRun::memory_cost(const Cutter& cutter, bool sums_in_file) const {
  return cutter.memory_cost() + Collector::memory_cost_with_files(options_, setup(), cutter, sums_in_file);
}

PreparedRun::LargestImage PreparedRun::largest(Bytes in_flight) const {
  constexpr std::size_t kMaxOpened = 200;
  std::vector<const SegmentInput*> all;
  for (const SegmentInput& input : inputs_.pictures) all.push_back(&input);
  std::stable_sort(all.begin(), all.end(),
                   [](const SegmentInput* a, const SegmentInput* b) { return a->file.size > b->file.size; });
  if (all.size() > kMaxOpened) all.resize(kMaxOpened);
  LargestImage out;
  for (const SegmentInput* input : all) {
    context_.throw_if_cancelled();
    try {
      const Cutter cutter(options_, setup(), input->file.path, input->name, context_);
      const bool in_file = memory_cost(cutter, false) + in_flight > context_.budget.largest_grant();
      const Bytes image_cost = memory_cost(cutter, in_file);
      if (image_cost <= out.memory_cost) continue;
      out = {input->file.path, cutter.rows().info().width, cutter.rows().info().height, cutter.windows(), image_cost,
             in_file};
    } catch (const Failure&) {
      // The file's error is reported when it is processed.
    }
  }
  return out;
}

}  // namespace millrace::segment
