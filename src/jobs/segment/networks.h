// Input: options.
// Output: the networks, opened and then compiled, and what they take; windows asked of them.
// Never: looks at a picture.
#pragma once

#include <functional>
#include <optional>

#include "src/jobs/segment/setup.h"
#include "src/memory/budget.h"

namespace millrace::segment {

// One window on its way through the networks.
struct WindowBuffers {
  Buffer<float> input;
  model::Prediction made;
};

class Networks {
 public:
  // Opens them. What set_up() throws; OutOfMemory where not even a window fits. `options` and the context's budget must
  // live as long as it.
  Networks(const Options& options, RunContext& context);
  // Compiles them, in this precision, for as many threads as the context has. What the ensemble and complete() throw.
  void compile(model::Precision precision, const RunContext& context);

  // Complete once they are compiled; who tries them out before may complete it.
  Setup& setup() { return setup_; }
  const Setup& setup() const { return setup_; }
  // Of what is compiled.
  model::Ensemble& ensemble() { return *ensemble_; }
  const model::Ensemble& ensemble() const { return *ensemble_; }
  int requests() const { return requests_; }
  // Of memory: all of them, which is reserved; a window; all windows under way, as pictures need the rest.
  Bytes takes() const { return takes_; }
  Bytes window_bytes() const { return ensemble_->bytes(); }
  Bytes in_flight() const { return Bytes{budget_.largest_grant().count / 2}; }

  // Runs `work`, which asks for windows; what is under way when `cancel` says so ends early: a large one takes seconds.
  void ask_while_wanted(const CancelToken& cancel, const std::function<void()>& work);
  // `window` stays as it is until `done`.
  void ask(WindowBuffers& window, std::function<void(std::exception_ptr)> done);

 private:
  void throw_unless_it_fits(Bytes window) const;

  const Options& options_;
  Budget& budget_;
  Setup setup_;
  int requests_ = 1;
  std::optional<model::Ensemble> ensemble_;
  Bytes takes_;
  Reservation paid_;
};

}  // namespace millrace::segment
