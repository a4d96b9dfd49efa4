// Input: the compiled latents_body.inc.
// Output: its text, and how each of its kernels is called.
// Never: launches a kernel.
#pragma once

#include <array>

#include "src/device/kernel_source.h"

namespace millrace::bodies {
const KernelSource& latents();
}  // namespace millrace::bodies

namespace millrace::latents {

inline constexpr KernelEntry kPilots{"latents_pilots", 128, 1024, "p4pppp"};
inline constexpr KernelEntry kFollow{"latents_follow", 128, 0, "p4ppp4488ppp", 4};
inline constexpr KernelEntry kTimes{"latents_times", 128, 1024, "p4ppp"};
inline constexpr KernelEntry kImages{"latents_images", 128, 0, "p4pppp"};
inline constexpr KernelEntry kTurn{"latents_turn", 128, 4160, "pppppp"};
inline constexpr KernelEntry kRows{"latents_rows", 128, 0, "p4ppp", 39};
inline constexpr KernelEntry kPlanes{"latents_planes", 128, 0, "p4ppp"};
inline constexpr KernelEntry kProductRows{"latents_product_rows", 128, 0, "p4ppp", 12};
inline constexpr KernelEntry kProducts{"latents_products", 128, 0, "p4ppp"};
inline constexpr KernelEntry kInside{"latents_inside", 128, 0, "p44ppppp", 19};
inline constexpr KernelEntry kAcross{"latents_across", 128, 0, "p44ppppp", 2};
inline constexpr KernelEntry kPatchSums{"latents_patches", 128, 0, "p4ppppp"};
inline constexpr KernelEntry kRowBins{"latents_row_bins", 128, 0, "p4ppppp", 15};
inline constexpr KernelEntry kColumns{"latents_columns", 128, 0, "p4444pppppp", 26};
inline constexpr KernelEntry kPower{"latents_power", 128, 512, "p4pppp", 10};
inline constexpr KernelEntry kRanges{"latents_ranges", 128, 3664, "p44ppppp"};
inline constexpr KernelEntry kEdgesOver{"latents_edges", 128, 0, "p44ppp"};
inline constexpr KernelEntry kPairs{"latents_pairs", 128, 9904, "p44ppppp"};
inline constexpr std::array kEntries = {kPilots,  kFollow,      kTimes,    kImages, kTurn,      kRows,
                                        kPlanes,  kProductRows, kProducts, kInside, kAcross,    kPatchSums,
                                        kRowBins, kColumns,     kPower,    kRanges, kEdgesOver, kPairs};

}  // namespace millrace::latents
