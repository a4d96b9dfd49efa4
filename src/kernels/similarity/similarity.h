// Input: two thumbnails of 64 x 64 RGB pixels, each a whole picture squeezed to a square.
// Output: a verdict whether they are the same picture, with the figures that it rests on.
// Never: opens files, or decides by a hash; it verifies the pairs that a candidate rule proposes.
//
// "The same picture" is one that was rescaled, recompressed, brightened, given another contrast, gamma or saturation, a
// little cropped, rotated by a degree or two, framed or overlaid with text. A design in other colours is
// `recoloured`; another view of the same scene is `different`.
//
// Method, in order; each step rejects the pairs that it can (figures are of the measurement in bench/recipes):
//  1. Solid pictures by mean colour alone.
//  2. Correlation of 16 x 16 luma over the overlap, for a small set of shifts and scales.
//  3. Robust affine registration of blurred 32 x 32 luma: Gauss-Newton on position, gain and bias (Lucas and Kanade
//     1981), residuals weighted after Geman and McClure, weak priors towards identity. If that fits badly, it starts
//     again from a crop by a twentieth, either way.
//  4. A monotone tone curve for all three channels together, so gamma and contrast are forgiven and a change of hue
//     is not.
//  5. Structural similarity (Wang et al. 2004) in tiles; the worst quarter is dropped, so an overlay spoils only its
//     tiles. On soft pictures, tiles that only one picture shows weigh no more than the rest, and the fit has to be
//     closer. The correlation of the whole overlap is tested too, outliers weighted down, because tiles of a plain
//     ground say nothing.
//  6. Residual that movement of single tiles would still explain: parallax, or a thing that moved.
//  7. Difference of chroma after the tone curve and one change of saturation.
//
// Exactness: float arithmetic in one fixed order, no library function but sqrt, floor and fabs, all of which IEEE 754
// rounds correctly: the same bits on every machine and compiler (-ffp-contract=off). compare(a, b) == compare(b, a) in
// every bit: the pair is ordered by its pixels first. No allocation, no state; safe from any number of threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "src/kernels/orient/orient.h"

namespace millrace::similarity {

// docs/design/similarity.md gives the reasons for the constants of this file.
inline constexpr int kSide = 64;
inline constexpr std::size_t kThumbnailBytes = std::size_t{kSide} * kSide * 3;

// Pixels in rows from the top, from the left: red, green, blue.
using Thumbnail = std::array<std::uint8_t, kThumbnailBytes>;

// Raster of 16 x 16 with two zeros before and after it, because code that works on whole rows reads a little beyond
// their ends.
struct CoarseRaster {
  static constexpr int kSide = 16, kBeyond = 2;
  std::array<float, kBeyond + kSide * kSide + kBeyond> values{};

  const float* row(int y) const { return values.data() + kBeyond + y * kSide; }
  float* row(int y) { return values.data() + kBeyond + y * kSide; }
};

// Data that compare() needs of one thumbnail, computed once. A plain value that may be copied; 46 KiB.
struct Features {
  Thumbnail pixels;
  std::array<float, 64 * 64> luma;                   // 0.299 R + 0.587 G + 0.114 B, 0..255
  std::array<float, 32 * 32> soft;                   // luma halved, then blurred by 1 2 1 each way
  CoarseRaster coarse;                               // luma in means of 4 x 4, less the mean of all
  CoarseRaster coarse_turned;                        // transpose of `coarse`
  std::array<std::array<float, 32 * 32>, 3> colour;  // channels like `soft`
  std::array<float, 3> mean;                         // mean of each channel
  std::array<float, 3> deviation;                    // standard deviation of each channel
  float detail;                                      // rms of luma at 32 x 32 less `soft`, in levels
  std::array<float, 4> content;                      // box inside a plain frame: left, top, right, bottom
  bool solid;                                        // true if every deviation is below kSolidDeviation
};

// Standard deviation below which, in every channel, only noise of compression is left to compare.
inline constexpr float kSolidDeviation = 1.5F;

Features features_of(std::span<const std::uint8_t, kThumbnailBytes> pixels);

// Returns the thumbnail in another orientation. A thumbnail is its whole picture squeezed to a square, so this is the
// thumbnail of the rotated or mirrored picture.
Thumbnail oriented(std::span<const std::uint8_t, kThumbnailBytes> pixels, Orientation o);

enum class SimilarityKind : std::uint8_t { same, recoloured, different };
const char* name_of(SimilarityKind kind);

struct Comparison {
  SimilarityKind kind = SimilarityKind::different;
  // Confidence: 1 is the same bytes, at least 0.5 exactly when `kind` is same. It is the worst of the tests' margins,
  // each mapped linearly from [worst that occurs, threshold, perfect] to [0, 0.5, 1].
  float score = 0;
  // Figures are 0 where an earlier step already decided.
  float coarse = 0;       // step 2: best correlation found, negative for an inverted picture
  float fit = 0;          // step 3: share of the luma's variance that registration explains
  float overlap = 0;      // step 3: share of the first picture that the second covers
  float structure = 0;    // step 5: -1..1
  float correlation = 0;  // step 5: of all the luma in the overlap after tone, outliers weighted down
  float movement = 0;     // step 6: local movement left after registration, in 1/64 of the picture's side
  float moved_share = 0;  // step 6: share of the structure in tiles that clearly moved
  float chroma = 0;       // step 7: difference over chroma, 0 is equal
  float tone = 0;         // step 4: distance of the tone curve from identity, in levels (rms)
  float contrast = 0;     // step 4: deviation of the levels after the curve over that before

  bool operator==(const Comparison&) const = default;
};

Comparison compare(const Features& a, const Features& b);

// Returns the map between the pictures, for a closer comparison. A point (x, y) of the first, whose sides span [-0.5,
// 0.5], lies at (m0 + m1 x + m2 y, m3 + m4 x + m5 y) of the second. Identity where compare() decided before
// registration.
std::array<float, 6> find_registration(const Features& a, const Features& b);

// Returns compare(a, b).kind == Kind::same, but sooner: an inverted picture, or one of clearly other colours, is not
// measured further.
bool same(const Features& a, const Features& b);

}  // namespace millrace::similarity
