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

class Prepared {
 public:
  // Throws what set_up(), find_inputs() and the networks throw, and OutOfMemory if not even a window fits.
  Prepared(const Options& options, RunContext& context);

  const Setup& setup() const { return networks_.setup(); }
  const Inputs& inputs() const { return inputs_; }
  Networks& networks() { return networks_; }
  // Returns the first network's session; all have the same runtime and precision.
  const model::Session& session() const { return networks_.ensemble().session(0); }
  const std::optional<Agreement>& agreement() const { return agreement_; }

  // Returns the memory for one image.
  Bytes needs(const Cutter& cutter, bool sums_in_file) const;

  // Usable image that needs most memory; if there are many images, it is searched among the largest files.
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
