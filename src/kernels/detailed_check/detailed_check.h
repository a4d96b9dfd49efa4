// Input: two pictures that a comparison at 64 x 64 pixels called the same.
// Output: a verdict: whether the effects of copying explain every local difference between them.
// Never: opens files, or decides by capture times.
//
// Effects of copying: scale, crop, compression, sharpening and blur, noise, a change of tone or saturation, a plain
// frame. Any other difference is something that only one picture shows: other text, a thing that moved, a mark.
// Differences are measured at a long side of 512 pixels, then in tiles of rasters of up to 2048. Finer differences are
// not found.
//
// Method, in order (docs/design/detailed-check.md has its definition, the reasons for the constants, and figures of a
// prototype on 650 pairs of different pictures and 1,245 true versions):
//  1. The target is the picture with fewer pixels for the same content, at a long side of at most 512. The source is
//     scaled to the target's pitch (content per pixel).
//  2. Affine registration from several starts, at a long side of 64, 256, then of the target.
//  3. Frames that differ are left out.
//  4. A monotone curve of tone with bounded slopes, so that it erases no text, and one change of saturation.
//  5. Each luma is fitted from blurred versions of the other; the residual is that of the better direction.
//  6. In windows of 8 pixels the residual is compared with what this pair's noise and the detail around make likely. It
//     is measured plain, blurred, in chroma, and as the part that a local shift would explain. The length of these
//     shifts is tested, too: a second view of a scene moves everything a little.
//  7. The largest of these figures, relative to their thresholds, decides.
//  8. Pairs that are the same so far are compared again in tiles, at the pitch of the picture with fewer pixels. Tiles
//     with little residual in luma and colour are skipped. Pictures that each show finer detail than the other
//     somewhere are frames of a stack.
//  9. A picture that contains the other has to continue at the sides of that part. A screen, a frame or a blurred
//     picture around it does not.
//
// Exactness: float and double arithmetic in one fixed order, no library function but sqrt, floor and fabs, which IEEE
// 754 rounds correctly: the same bits on every machine and compiler (-ffp-contract=off).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "src/kernels/orient/orient.h"

namespace millrace::detailed_check {

// Long side in pixels at which pictures are compared, and long side of the rasters that compare() takes. Rasters are
// larger so that a crop of half a side still has detail for the comparison.
inline constexpr int kSide = 512, kRasterSide = 2048;

// Picture in rows from the top, pixels from the left: red, green, blue. Its long side is min(kRasterSide, the picture's
// own).
struct PictureRaster {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;
  int full_width = 0, full_height = 0;  // sides of the picture itself
};

// A picture with the reduced copies that every comparison uses, made once.
class PreparedPicture {
 public:
  explicit PreparedPicture(PictureRaster raster);
  ~PreparedPicture();
  PreparedPicture(PreparedPicture&& other) noexcept;
  PreparedPicture& operator=(PreparedPicture&& other) noexcept;

  struct Planes;
  const PictureRaster& raster() const;
  PreparedPicture turned(Orientation orientation) const;
  // True if at least a third of the picture is plain. A drawing or text means something else when mirrored or rotated.
  bool is_drawing() const;
  const Planes& planes() const { return *planes_; }

 private:
  std::unique_ptr<Planes> planes_;
};

enum class DifferenceKind : std::uint8_t {
  same,     // every local difference is explained
  altered,  // something was added, removed or changed in a part of it
  framed,   // each shows content that the other lacks, or one stands on a screen, in a frame, before something else
  toned,    // another exposure or a strong edit: the two cannot be told apart
  different,
};
const char* name_of(DifferenceKind kind);

// Picture whose whole content the other one shows too.
enum class Containment : std::uint8_t { both, first, second, neither };

struct Verdict {
  DifferenceKind kind = DifferenceKind::different;
  // Set only where the kind is `same`: `first` means that the first picture is a part of the second.
  Containment contained = Containment::neither;
  // Figures are 0 where an earlier step already decided. `excess` is the largest ratio of a figure to its threshold;
  // above 1 the pictures are not the same.
  float excess = 0;
  float plain = 0, soft = 0, chroma = 0, shift = 0;  // figures of step 6
  float drift = 0;        // local shifts that registration leaves, in pixels: the 75th percentile
  float spread = 0;       // share of the windows that differ
  float correlation = 0;  // coefficient of the lumas after steps 4 and 5
  float tone = 0, gain = 0;
  float sharpness = 0;  // distance of step 5's filter from doing nothing
  float scale = 0;      // pixels of the second picture to one of the first, along a side
  // True if the picture with more pixels shows nothing finer than the other does. Set only where the kind is `same`.
  bool enlarged = false;
  // True if the picture is sharper in some places, and softer in none. Set only where the kind is `same`.
  bool first_sharper = false, second_sharper = false;
  // True if the picture has a plain frame, with a straight inner edge, around the shared content, and the other has
  // none. Set only where the kind is `same`.
  bool first_framed = false, second_framed = false;
  // Share of each picture that lies outside the other, frames not counted, 0..1.
  float first_outside = 0, second_outside = 0;
  // Map from the first picture to the second, in the form of compare()'s `start`; set only where they were registered.
  std::optional<std::array<float, 6>> meeting{};
  // Box where the pictures differ most: left, top, right, bottom in shares of each picture's sides. Set only where
  // `altered`.
  std::array<float, 4> first_place{}, second_place{};

  bool operator==(const Verdict&) const = default;
};

// Compares pairs of pictures and keeps its buffers from pair to pair. For one thread at a time.
class DetailedComparator {
 public:
  // Bytes that a comparison takes at most, three pictures included.
  static constexpr std::uint64_t kMemory = 192ULL << 20;

  DetailedComparator();
  ~DetailedComparator();
  DetailedComparator(const DetailedComparator&) = delete;
  DetailedComparator& operator=(const DetailedComparator&) = delete;

  // Verdicts depend in their last bits on which picture is `first`. Callers order a pair by a fixed rule, as by the
  // hash of the contents. `start` is a guess of the map between the pictures, beside those that are made here. A point
  // (x, y) of the first, whose sides span [-0.5, 0.5], lies at (m0 + m1 x + m2 y, m3 + m4 x + m5 y) of the second.
  Verdict compare(const PreparedPicture& first, const PreparedPicture& second,
                  const std::optional<std::array<float, 6>>& start = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace::detailed_check
