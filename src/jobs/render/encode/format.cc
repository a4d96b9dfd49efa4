#include "src/jobs/render/encode/format.h"

namespace millrace::render {

rle::ColourTable colour_table_of(const RenderOptions& options) {
  rle::ColourTable out = rle::colour_table(*options.paper, *options.ink);
  if (options.style == Style::ohlc || options.style == Style::candle) {
    out[chart::kRising] = *options.rising;
    out[chart::kFalling] = *options.falling;
  }
  return out;
}

Format format_of(const RenderOptions& options) {
  const PixelKind kind = options.dtype == PixelType::bit   ? PixelKind::bits
                         : options.dtype == PixelType::f32 ? PixelKind::floats
                                                           : PixelKind::bytes;
  return {options.spec(), colour_table_of(options), options.rgb ? 3 : 1, kind};
}

}  // namespace millrace::render
