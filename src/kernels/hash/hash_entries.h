// Input: hash_body.inc, compiled.
// Output: its text, and the signature of each of its kernels.
// Never: launches a kernel.
#pragma once

#include <array>

#include "src/device/kernel_source.h"

namespace millrace::bodies {
const KernelSource& hash();
}  // namespace millrace::bodies

namespace millrace::hashes {

inline constexpr KernelEntry kLuma{"hash_luma", 256, 64, "p84pppp"};
inline constexpr KernelEntry kResize{"hash_resize", 128, 512, "p84ppppp4"};
inline constexpr KernelEntry kDctDown{"hash_dct_down", 128, 0, "p84pppp"};
inline constexpr KernelEntry kDctAcross{"hash_dct_across", 128, 0, "p84pppp"};
inline constexpr KernelEntry kCells{"hash_cells", 128, 1024, "p84ppp"};
inline constexpr KernelEntry kBox{"hash_box", 64, 0, "p84pppp4"};
inline constexpr KernelEntry kPdq{"hash_pdq", 256, 4100, "ppppp"};
inline constexpr std::array kEntries = {kLuma, kResize, kDctDown, kDctAcross, kCells, kBox, kPdq};

}  // namespace millrace::hashes
