// Input: chart_body.inc, compiled.
// Output: its text, and the signatures of its kernels.
// Never: launches a kernel.
#pragma once

#include <array>

#include "src/device/kernel_source.h"

namespace millrace::bodies {
const KernelSource& chart();
}  // namespace millrace::bodies

namespace millrace::chart {

inline constexpr KernelEntry kValues{"chart_values", 64, 1536, "pppp8ppp"};
inline constexpr KernelEntry kPlaces{"chart_places", 128, 0, "ppppppp"};
inline constexpr KernelEntry kLegs{"chart_legs", 128, 0, "pppp"};
inline constexpr KernelEntry kPieces{"chart_pieces", 64, 0, "ppppppppppp"};
inline constexpr KernelEntry kSlants{"chart_slants", 128, 0, "ppppppppppppp"};
inline constexpr KernelEntry kCorners{"chart_corners", 64, 0, "pppppppppppppp"};
inline constexpr KernelEntry kLines{"chart_lines", 128, 0, "pppppppppppppp"};
inline constexpr KernelEntry kPaintLines{"chart_paint_lines", 128, 31232, "ppppppppppppp8ppp"};
inline constexpr KernelEntry kPaintBars{"chart_paint_bars", 128, 6144, "pppppp8ppp"};
inline constexpr std::array kEntries = {kValues,  kPlaces, kLegs,       kPieces,   kSlants,
                                        kCorners, kLines,  kPaintLines, kPaintBars};

}  // namespace millrace::chart
