// Input: codes on two sides, a plan, and a device.
// Output: every pair within range, as hamming_find.h has it: what the device cannot do, the CPU does.
// Never: hands on a hit that the device found and nobody could have checked (src/device/batches.h).
//
// On the device: the codes once a side; for the index, once more in the order of a part, with 4 bytes a code and 4 a
// bucket; and room for hits, of 12 bytes. Brute force of more codes than fit goes through them chunk by chunk.
#pragma once

#include <optional>
#include <string>

#include "src/device/accelerator.h"
#include "src/device/routing.h"
#include "src/kernels/hamming/hamming_find.h"

namespace millrace::hamming {

// The side that a plan's pairs are found on, by what it has to compare.
Route route_of(const JoinPlan& plan, const Problem& problem, const Accelerator& accelerator);
// The names of the operations that `millrace tune` measures: by bits, and brute force or an index.
std::string operation_of(int bits, Algorithm algorithm);

// Nothing where nothing was brought, and the CPU has to do all of it: the device cannot be used, or its memory does not
// hold the codes of an index. Codes that are too alike for the plan's index are compared by brute force.
template <typename Code>
std::optional<Answer> find_on_device(const Sides<Code>& sides, const JoinPlan& plan, const Options& options,
                                     const Engines& engines, Budget& budget, PairTaker& taker);

extern template std::optional<Answer> find_on_device(const Sides<std::uint64_t>&, const JoinPlan&, const Options&,
                                                     const Engines&, Budget&, PairTaker&);
extern template std::optional<Answer> find_on_device(const Sides<Code256>&, const JoinPlan&, const Options&,
                                                     const Engines&, Budget&, PairTaker&);

}  // namespace millrace::hamming
