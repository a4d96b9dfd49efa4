// Enters: options.
// Leaves: what a run needs before its first picture: the networks, compiled, the pictures, and what all of it takes.
// Never: writes anything.
#pragma once

#include <optional>
#include <string>

#include "src/jobs/segment/cutter.h"
#include "src/jobs/segment/inputs.h"
#include "src/jobs/segment/precision.h"

namespace millrace::segment {

class Prepared {
 public:
  // What set_up(), find_inputs() and the networks throw; OutOfMemory where not even a window fits.
  Prepared(const Options& options, RunContext& context);

  const Setup& setup() const { return setup_; }
  const Inputs& inputs() const { return inputs_; }
  model::Ensemble& ensemble() { return *ensemble_; }
  // The first network's; all have the same runtime and precision.
  const model::Session& session() const { return ensemble_->session(0); }
  const std::optional<Agreement>& agreement() const { return agreement_; }
  int requests() const { return requests_; }

  // Of memory: the networks, which is reserved; a window; all windows under way, as pictures need the rest; a picture.
  Bytes network() const { return network_; }
  Bytes window_bytes() const { return ensemble_->bytes(); }
  Bytes in_flight() const { return Bytes{context_.budget.largest_grant().count / 2}; }
  Bytes needs(const Cutter& cutter, bool sums_in_file) const;

  // Of those that can be used, the one that takes most; of many, among the largest files.
  struct Largest {
    std::string path;
    std::int64_t width = 0, height = 0;
    std::uint64_t windows = 0;
    Bytes needs;
    bool sums_in_file = false;
  };
  Largest largest(Bytes in_flight) const;

 private:
  void throw_unless_it_fits(Bytes window) const;

  const Options& options_;
  RunContext& context_;
  Setup setup_;
  const Inputs inputs_;
  int requests_ = 1;
  std::optional<Agreement> agreement_;
  std::optional<model::Ensemble> ensemble_;
  Bytes network_;
  Reservation paid_;
};

}  // namespace millrace::segment
