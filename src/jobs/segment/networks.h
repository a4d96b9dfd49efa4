// Input: the options.
// Output: the networks, opened and compiled, and their memory; predictions for windows.
// Never: opens an image.
#pragma once

#include <functional>
#include <optional>

#include "src/jobs/segment/setup.h"
#include "src/memory/budget.h"

namespace millrace::segment {

// Window on its way through the networks.
struct WindowBuffers {
  Buffer<float> input;
  model::Prediction made;
};

class Networks {
 public:
  // Opens the networks. Throws what set_up() throws, and OutOfMemory if not even a window fits. `options` and the
  // context's budget must outlive this object.
  Networks(const Options& options, RunContext& context);
  // Compiles the networks in this precision, for as many threads as the context has. Throws what the ensemble and
  // complete_setup() throw.
  void compile(model::Precision precision, const RunContext& context);

  // Setup of the networks; it is complete once they are compiled. Code that tries them before may complete it.
  Setup& setup() { return setup_; }
  const Setup& setup() const { return setup_; }
  // Compiled networks.
  model::Ensemble& ensemble() { return *ensemble_; }
  const model::Ensemble& ensemble() const { return *ensemble_; }
  int requests() const { return requests_; }
  // Bytes reserved for all networks, bytes per window, and the cap for windows in flight; images need the rest.
  Bytes reserved_bytes() const { return reserved_bytes_; }
  Bytes window_bytes() const { return ensemble_->bytes(); }
  Bytes in_flight() const { return Bytes{budget_.largest_grant().count / 2}; }

  // Runs `work`, which submits windows. When `cancel` is set, inference in progress ends early, as a large window takes
  // seconds.
  void run_cancellable(const CancelToken& cancel, const std::function<void()>& work);
  // Submits a window, which must not change until `done` is called.
  void submit_window(WindowBuffers& window, std::function<void(std::exception_ptr)> done);

 private:
  void throw_unless_it_fits(Bytes window) const;

  const Options& options_;
  Budget& budget_;
  Setup setup_;
  int requests_ = 1;
  std::optional<model::Ensemble> ensemble_;
  Bytes reserved_bytes_;
  Reservation reservation_;
};

}  // namespace millrace::segment
