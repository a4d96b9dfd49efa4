#include "src/jobs/segment/prepared.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/jobs/segment/collector.h"

namespace millrace::segment {

Prepared::Prepared(const Options& options, RunContext& context)
    : options_(options),
      context_(context),
      setup_(set_up(options, [&context] { return context.cancel.cancelled(); })),
      inputs_(find_inputs(options, context)) {
  // Before anything is compiled for it.
  std::uint64_t floats = 0;
  for (const model::PictureModel& each : setup_.models) floats = std::max(floats, each.input_elements());
  throw_unless_it_fits(Bytes{floats * sizeof(float)});
  model::PictureModelOptions said = options.network;
  if (options.least_dice) {
    agreement_ = agree(options, setup_, inputs_, context);
    said.precision = agreement_->precision;
  }
  const model::Ensemble::Options how = ensemble_options(options, context);
  requests_ = how.requests;
  ensemble_.emplace(setup_.models, said, how);
  complete(options, setup_, *ensemble_);
  throw_unless_it_fits(window_bytes());
  const model::Session::Memory takes = ensemble_->measure();
  network_ = takes.model + takes.request * static_cast<std::uint64_t>(requests_);
  paid_ = context.budget.reserve(network_, setup_.models.size() > 1 ? "the networks" : "the network");
}

void Prepared::throw_unless_it_fits(Bytes window) const {
  const Bytes left = context_.budget.largest_grant();
  if (window > left)
    throw OutOfMemory(ErrorCode::out_of_memory,
                      fmt::format("a window of {} x {} takes {}, and {} are left", setup_.width, setup_.height,
                                  to_text(window), to_text(left)),
                      "--window", "allow more with --memory, or take a smaller window");
}

Bytes Prepared::needs(const Cutter& cutter, bool sums_in_file) const {
  return cutter.needs() + Collector::needs(options_, setup_, cutter, sums_in_file);
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
      const Cutter cutter(options_, setup_, input->file.path, input->name, context_);
      const bool in_file = needs(cutter, false) + in_flight > context_.budget.largest_grant();
      const Bytes takes = needs(cutter, in_file);
      if (takes <= out.needs) continue;
      out = {input->file.path, cutter.rows().info().width, cutter.rows().info().height, cutter.windows(), takes,
             in_file};
    } catch (const Failure&) {
      // It will be an outcome, and told then.
    }
  }
  return out;
}

}  // namespace millrace::segment
