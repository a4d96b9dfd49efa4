#include "src/jobs/segment/prepared.h"

#include <algorithm>

#include "src/jobs/segment/collector.h"

namespace millrace::segment {

Prepared::Prepared(const Options& options, RunContext& context)
    : options_(options), context_(context), networks_(options, context), inputs_(find_inputs(options, context)) {
  if (options.least_dice) agreement_ = agree(options, networks_.setup(), inputs_, context);
  networks_.compile(agreement_ ? agreement_->precision : options.network.precision, context);
}

Bytes Prepared::needs(const Cutter& cutter, bool sums_in_file) const {
  return cutter.needs() + Collector::needs_with_files(options_, setup(), cutter, sums_in_file);
}

Prepared::Largest Prepared::largest(Bytes in_flight) const {
  constexpr std::size_t kMostOpened = 200;
  std::vector<const Input*> all;
  for (const Input& input : inputs_.pictures) all.push_back(&input);
  std::stable_sort(all.begin(), all.end(), [](const Input* a, const Input* b) { return a->file.size > b->file.size; });
  if (all.size() > kMostOpened) all.resize(kMostOpened);
  Largest out;
  for (const Input* input : all) {
    context_.throw_if_cancelled();
    try {
      const Cutter cutter(options_, setup(), input->file.path, input->name, context_);
      const bool in_file = needs(cutter, false) + in_flight > context_.budget.largest_grant();
      const Bytes takes = needs(cutter, in_file);
      if (takes <= out.needs) continue;
      out = {input->file.path, cutter.rows().info().width, cutter.rows().info().height, cutter.windows(), takes,
             in_file};
    } catch (const Failure&) {
      // The file's error is reported when it is processed.
    }
  }
  return out;
}

}  // namespace millrace::segment
