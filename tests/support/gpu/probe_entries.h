// Entry points and parameters of the kernels in probe_body.inc.
#pragma once

#include <array>

#include "src/device/kernel_source.h"

namespace millrace::bodies {
const KernelSource& probe();
}  // namespace millrace::bodies

namespace millrace {

inline constexpr KernelEntry kProbeTurn{"probe_turn", 64, 256, "pp444"};
inline constexpr KernelEntry kProbeNumbers{"probe_numbers", 64, 0, "pp48", 1};
inline constexpr KernelEntry kProbeSingles{"probe_singles", 64, 0, "pp44", 1};
inline constexpr KernelEntry kProbeCount{"probe_count", 64, 64, "p4pp"};
inline constexpr std::array kProbeEntries = {kProbeTurn, kProbeNumbers, kProbeSingles, kProbeCount};

}  // namespace millrace
