// Input: options.
// Output: what a run needs before its first picture: the networks, compiled, the pictures, and what all of it takes.
// Never: writes anything.
#pragma once

#include <optional>
#include <string>

#include "src/jobs/segment/cutter.h"
#include "src/jobs/segment/inputs.h"
#include "src/jobs/segment/networks.h"
#include "src/jobs/segment/precision.h"

namespace millrace::segment {

class Prepared {
 public:
  // What set_up(), find_inputs() and the networks throw; OutOfMemory where not even a window fits.
  Prepared(const Options& options, RunContext& context);

  const Setup& setup() const { return networks_.setup(); }
  const Inputs& inputs() const { return inputs_; }
  Networks& networks() { return networks_; }
  // The first network's; all have the same runtime and precision.
  const model::Session& session() const { return networks_.ensemble().session(0); }
  const std::optional<Agreement>& agreement() const { return agreement_; }

  // Of memory: a picture.
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
  const Options& options_;
  RunContext& context_;
  Networks networks_;
  const Inputs inputs_;
  std::optional<Agreement> agreement_;
};

}  // namespace millrace::segment
