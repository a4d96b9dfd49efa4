// Input: codes.
// Output: how evenly each bit is used, and codes with their bits in a plan's order.
// Never: changes a distance.
#pragma once

#include <span>
#include <vector>

#include "src/kernels/hamming/hamming_cost.h"

namespace millrace::hamming {

// Returns the probability that two codes agree in each bit, from about 4096 of them, evenly spread.
template <typename Code>
std::vector<double> measure_bit_agreement(std::span<const Code> codes);

// Writes codes with their bits in the plan's order. `to` may be where `from` lies.
template <typename Code>
void permute_bits(std::span<const Code> from, Code* to, const JoinPlan& plan, const Executor& executor);

}  // namespace millrace::hamming
