// Input: the options.
// Output: everything that a run needs before its first image: compiled networks, the list of images, and the memory
//   estimates.
// Never: writes anything.
#pragma once

#include <optional>
#include <string>

#include "src/jobs/segment/cutter.h"
#include "src/jobs/segment/inputs.h"
#include "src/jobs/segment/networks.h"
#include "src/jobs/segment/precision.h"

namespace millrace::segment {

class PreparedRun {
 public:
  // Throws what set_up(), find_inputs() and the networks throw, and OutOfMemory if not even a window fits.
  PreparedRun(const Options& options, RunContext& context);

  const Setup& setup() const { return networks_.setup(); }
  const SegmentInputs& inputs() const { return inputs_; }
  Networks& networks() { return networks_; }
  // Returns the first network's session; all have the same runtime and precision.
  const model::Session& session() const { return networks_.ensemble().session(0); }
  const std::optional<PrecisionDecision>& precision_decision() const { return precision_decision_; }

  // Returns the memory for one image.
  Bytes memory_cost(const Cutter& cutter, bool sums_in_file) const;

  // Usable image that needs most memory; if there are many images, it is searched among the largest files.
  struct LargestImage {
    std::string path;
    std::int64_t width = 0, height = 0;
    std::uint64_t windows = 0;
    Bytes memory_cost;
    bool sums_in_file = false;
  };
  LargestImage largest(Bytes in_flight) const;

 private:
  const Options& options_;
  RunContext& context_;
  Networks networks_;
  const SegmentInputs inputs_;
  std::optional<PrecisionDecision> precision_decision_;
};

}  // namespace millrace::segment
