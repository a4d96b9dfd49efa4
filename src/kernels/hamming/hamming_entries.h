// Input: hamming_body.inc, compiled.
// Output: its text, and the signature of each of its kernels.
// Never: launches a kernel.
#pragma once

#include <array>

#include "src/device/kernel_source.h"

namespace millrace::bodies {
const KernelSource& hamming();
}  // namespace millrace::bodies

namespace millrace::hamming {

inline constexpr KernelEntry kBrute64{"hamming_brute_64", 256, 2048, "pp4444444p4p"};
inline constexpr KernelEntry kBrute256{"hamming_brute_256", 128, 4096, "pp4444444p4p"};
inline constexpr KernelEntry kCount{"hamming_count", 256, 0, "p44444pp"};
inline constexpr KernelEntry kScatter{"hamming_scatter", 256, 0, "p44444pppp"};
inline constexpr KernelEntry kIndex{"hamming_index", 256, 0, "ppppp444444p4ppp444p4p"};
inline constexpr std::array kEntries = {kBrute64, kBrute256, kCount, kScatter, kIndex};

}  // namespace millrace::hamming
