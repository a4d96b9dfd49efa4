// Input: options with their defaults filled in.
// Output: the colours of the levels of a chart, and the pixel format in which a chart is stored.
// Never: draws.
#pragma once

#include "src/jobs/render/options.h"
#include "src/kernels/chart/format.h"

namespace millrace::render {

using chart::Format, chart::PixelKind, chart::PixelPacker;

rle::ColourTable colour_table_of(const RenderOptions& options);
Format format_of(const RenderOptions& options);

}  // namespace millrace::render
