#include "src/jobs/dedupe/scan/thumbnail_codes.h"

#include <algorithm>
#include <vector>

#include "src/kernels/luma/luma.h"
#include "src/kernels/resize/resize.h"
#include "src/kernels/similarity/similarity.h"

namespace millrace::dedupe {
namespace {

// docs/design/similarity.md gives the reasons for the constants of this file.
constexpr int kMargin = 3;

using Luma = std::array<std::uint8_t, similarity::kSide * similarity::kSide>;

Luma luma_of(const std::uint8_t* rgb64) {
  Luma luma;
  luma_from_rgb(rgb64, luma.data(), luma.size());
  return luma;
}

// Returns the middle without `margin` pixels at each side, resized.
std::vector<std::uint8_t> resize_middle(const Luma& luma, int margin, int width, int height) {
  const int side = similarity::kSide - 2 * margin;
  Resizer resizer(side, side, width, height);
  resizer.push(luma.data() + margin * similarity::kSide + margin, similarity::kSide, side);
  const std::uint8_t* out = resizer.result();
  return {out, out + static_cast<std::ptrdiff_t>(width) * height};
}

std::uint64_t dhash64(const Luma& luma, int margin) {
  return packed64(dhash_of(resize_middle(luma, margin, 9, 8).data(), 8));
}
std::uint64_t phash64(const Luma& luma, int margin) {
  return packed64(phash_of(resize_middle(luma, margin, 32, 32).data(), 8));
}

}  // namespace

ThumbnailCodes compute_thumbnail_codes(const std::uint8_t* rgb64) {
  const Luma luma = luma_of(rgb64);
  return {dhash64(luma, 0),
          packed64(ahash_of(resize_middle(luma, 0, 8, 8).data(), 8)),
          packed64(dhash_vertical_of(resize_middle(luma, 0, 8, 9).data(), 8)),
          phash64(luma, 0),
          dhash64(luma, kMargin),
          phash64(luma, kMargin)};
}

std::size_t slot_of(HashKind kind) {
  return static_cast<std::size_t>(std::find(kCatalogCodes.begin(), kCatalogCodes.end(), kind) - kCatalogCodes.begin());
}

std::size_t middle_slot_of(HashKind kind) { return kind == HashKind::dhash ? 4 : 5; }

}  // namespace millrace::dedupe
