// Input: codes on two sides, a plan, and a device.
// Output: every pair within range, as by hamming_find.h; the CPU does what the device cannot.
// Never: passes on a hit of the device that no check could have covered (src/device/batches.h).
//
// Memory on the device: the codes of each side, and room for hits, of 12 bytes. For the index, the codes once more in
// the order of a part, with 4 bytes a code and 4 a bucket. Brute force of more codes than fit goes through them chunk
// by chunk.
#pragma once

#include <optional>
#include <string>

#include "src/device/accelerator.h"
#include "src/device/routing.h"
#include "src/kernels/hamming/hamming_find.h"

namespace millrace::hamming {

// Returns the side that a plan's pairs are found on, by the amount that it has to compare.
Route choose_route(const JoinPlan& plan, const JoinProblem& problem, const Accelerator& accelerator);
// Returns the name of an operation that `millrace tune` measures: by bits, and brute force or an index.
std::string operation_of(int bits, Algorithm algorithm);

// Returns nothing where no pair was given out and the CPU has to do all of it. Then the device cannot be used, or its
// memory does not hold the codes of an index. Codes that are too similar for the plan's index are compared by brute
// force.
template <typename Code>
std::optional<JoinMethod> find_on_device(const JoinSides<Code>& sides, const JoinPlan& plan, const Options& options,
                                         const Engines& engines, Budget& budget, PairTaker& taker);

extern template std::optional<JoinMethod> find_on_device(const JoinSides<std::uint64_t>&, const JoinPlan&,
                                                         const Options&, const Engines&, Budget&, PairTaker&);
extern template std::optional<JoinMethod> find_on_device(const JoinSides<Code256>&, const JoinPlan&, const Options&,
                                                         const Engines&, Budget&, PairTaker&);

}  // namespace millrace::hamming
