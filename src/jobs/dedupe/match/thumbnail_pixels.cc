#include "src/jobs/dedupe/match/thumbnail_pixels.h"

#include <algorithm>

#include "src/io/image/thumbnail_jpeg.h"

namespace millrace::dedupe {

std::optional<similarity::Thumbnail> decode_thumbnail_pixels(std::span<const std::uint8_t> jpeg) {
  const auto thumbnail = decode_thumbnail(jpeg);
  if (!thumbnail) return std::nullopt;
  const auto small = resize_to_square(*thumbnail, similarity::kSide);
  std::optional<similarity::Thumbnail> pixels(std::in_place);
  std::copy(small.begin(), small.end(), pixels->begin());
  return pixels;
}

}  // namespace millrace::dedupe
