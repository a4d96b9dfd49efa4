// Input: deflate_body.inc, compiled.
// Output: its text, and the signatures of its kernels.
// Never: launches a kernel.
#pragma once

#include <array>

#include "src/device/kernel_source.h"

namespace millrace::bodies {
const KernelSource& deflate();
}  // namespace millrace::bodies

namespace millrace::rle_deflate {

inline constexpr KernelEntry kRows{"deflate_rows", 128, 0, "pp8pppppppp"};
inline constexpr KernelEntry kPlaces{"deflate_places", 128, 0, "ppppppppppppp"};
inline constexpr KernelEntry kWrite{"deflate_write", 128, 0, "pp8pppppppp"};
inline constexpr KernelEntry kEnds{"deflate_ends", 64, 0, "pppppppp"};
inline constexpr std::array kEntries = {kRows, kPlaces, kWrite, kEnds};

}  // namespace millrace::rle_deflate
