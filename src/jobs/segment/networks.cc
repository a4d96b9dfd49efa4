#include "src/jobs/segment/networks.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/pipeline/cancel_watch.h"

namespace millrace::segment {

Networks::Networks(const Options& options, RunContext& context)
    : options_(options),
      budget_(context.budget),
      setup_(set_up(options, [&context] { return context.cancel.cancelled(); })) {
  // Checked before networks are compiled for this window.
  std::uint64_t floats = 0;
  for (const model::PictureModel& each : setup_.models) floats = std::max(floats, each.input_elements());
  throw_unless_it_fits(Bytes{floats * sizeof(float)});
}

void Networks::compile(model::Precision precision, const RunContext& context) {
  model::PictureModelOptions network_options = options_.network;
  network_options.precision = precision;
  const model::Ensemble::Options how = ensemble_options(options_, context);
  requests_ = how.requests;
  ensemble_.emplace(setup_.models, network_options, how);
  complete_setup(options_, setup_, *ensemble_);
  throw_unless_it_fits(window_bytes());
  const model::Session::Memory measured = ensemble_->measure();
  reserved_bytes_ = measured.model + measured.request * static_cast<std::uint64_t>(requests_);
  reservation_ = budget_.reserve(reserved_bytes_, setup_.models.size() > 1 ? "the networks" : "the network");
}

void Networks::throw_unless_it_fits(Bytes window) const {
  const Bytes left = budget_.largest_grant();
  if (window > left)
    throw OutOfMemory(ErrorCode::out_of_memory,
                      fmt::format("a window of {} x {} needs {}, and only {} are free", setup_.width, setup_.height,
                                  format_bytes(window), format_bytes(left)),
                      "--window", "increase --memory, or use a smaller window");
}

void Networks::run_cancellable(const CancelToken& cancel, const std::function<void()>& work) {
  struct GoingOn {
    ~GoingOn() { ensemble.go_on(); }
    model::Ensemble& ensemble;
  };
  const GoingOn behind{*ensemble_};
  const CancelWatch watch(cancel, [this] { ensemble_->interrupt(); });
  work();
}

void Networks::submit_window(WindowBuffers& window, std::function<void(std::exception_ptr)> done) {
  ensemble_->submit(window.input.data(), window.made, [done = std::move(done)](const Error* error) {
    done(error == nullptr ? nullptr : std::make_exception_ptr(Failure(*error)));
  });
}

}  // namespace millrace::segment
