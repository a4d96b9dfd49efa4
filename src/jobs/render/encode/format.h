// Input: options whose defaults are filled.
// Output: what the levels of a chart look like, and what a chart is stored as.
// Never: draws.
#pragma once

#include "src/jobs/render/options.h"
#include "src/kernels/chart/format.h"

namespace millrace::render {

using chart::Format, chart::PixelKind, chart::PixelPacker;

rle::ColourTable colour_table_of(const Options& options);
Format format_of(const Options& options);

}  // namespace millrace::render
