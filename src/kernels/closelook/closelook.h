// Input: two pictures that a look at 64 x 64 pixels called the same.
// Output: a verdict: is every local difference between them explained by what copying does to a picture.
// Never: looks at files, or decides by capture times.
//
// What copying does: scale, crop, compression, sharpening and blur, noise, a change of tone or saturation, a plain
// frame. What remains is something that one picture shows and the other does not: other text, a thing that moved, a
// mark. Measured at a long side of 512 pixels, then in tiles of up to 2048; finer differences are not seen here.
//
// Method, in order (figures of a prototype on 650 pairs of different pictures and 1,245 true versions stand in
// docs/performance.md):
//  1. The target is the picture with fewer pixels for the same content, at a long side of at most 512; the source is
//     brought to its pitch.
//  2. Affine registration from several starts, at a long side of 64, 256, then of the target.
//  3. Frames that differ are left out.
//  4. One monotone curve of tone with bounded slopes, so that it erases no text, and one change of saturation.
//  5. Each luma is fitted from blurred versions of the other; the residual of the better direction is what stays.
//  6. In windows of 8 pixels the residual is held against what this pair's noise and the detail around make likely:
//     plain, blurred, of chroma, and what a local shift would explain. And how far these shifts go: a second view of a
//     scene moves everything a little.
//  7. The largest of these against thresholds.
//  8. What is the same so far, again in tiles at the pitch of the picture with fewer pixels. A tile in which luma and
//     colour leave little is passed by. And whether each shows finer detail than the other somewhere: frames of a
//     stack.
//  9. Where one is a part of the other, that one has to go on at the part's sides: a screen, a frame, a blurred picture
//     around it does not.
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

namespace millrace::closelook {

// The long side at which pictures are compared, and that of the rasters that compare() takes: a crop of half a side has
// detail for the former.
inline constexpr int kSide = 512, kRasterSide = 2048;

// Rows from the top, pixels from the left, red, green, blue. The long side is min(kRasterSide, the picture's own).
struct Raster {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;
  int full_width = 0, full_height = 0;  // of the picture itself
};

// A picture with what every comparison takes of it, made once.
class Prepared {
 public:
  explicit Prepared(Raster raster);
  ~Prepared();
  Prepared(Prepared&& other) noexcept;
  Prepared& operator=(Prepared&& other) noexcept;

  struct Planes;
  const Raster& raster() const;
  Prepared turned(Orientation orientation) const;
  // A third of it is plain. Mirrored or turned, what is drawn or written means something else.
  bool is_drawing() const;
  const Planes& planes() const { return *planes_; }

 private:
  std::unique_ptr<Planes> planes_;
};

enum class Kind : std::uint8_t {
  same,     // every local difference is explained
  altered,  // something was added, removed or changed in a part of it
  framed,   // each shows content that the other lacks, or one stands on a screen, in a frame, before something else
  toned,    // of another exposure, or strongly edited: which cannot be told
  different,
};
const char* name_of(Kind kind);

// Which of the two shows all that the other shows.
enum class Contained : std::uint8_t { both, first, second, neither };

struct Verdict {
  Kind kind = Kind::different;
  // Only where the kind is `same`: `first` says that the first picture is a part of the second.
  Contained contained = Contained::neither;
  // The figures below are 0 where an earlier step already decided. The largest over its threshold decides; above 1 the
  // pictures are not the same.
  float excess = 0;
  float plain = 0, soft = 0, chroma = 0, shift = 0;  // step 6
  float drift = 0;        // what local shifts are left of registration, in pixels: the 75th percentile
  float spread = 0;       // share of the windows that differ
  float correlation = 0;  // of the lumas after steps 4 and 5
  float tone = 0, gain = 0;
  float sharpness = 0;  // step 5: how far the filter is from doing nothing
  float scale = 0;      // pixels of the second picture to one of the first, along a side
  // Only where the kind is `same`: the one with more pixels shows nothing finer than the other does.
  bool enlarged = false;
  // Likewise: it is sharper in some places, and in no place softer.
  bool first_sharper = false, second_sharper = false;
  // Likewise: it has a plain frame around what both show, by its straight inner edge, and the other has not.
  bool first_framed = false, second_framed = false;
  // How much of each lies outside the other, frames not counted, 0..1.
  float first_alone = 0, second_alone = 0;
  // Where they meet, as compare() takes it; only where they were registered.
  std::optional<std::array<float, 6>> meeting{};
  // Where they differ most: left, top, right, bottom in shares of each picture's sides. Only where `altered`.
  std::array<float, 4> first_place{}, second_place{};

  bool operator==(const Verdict&) const = default;
};

// What comparing takes, kept from pair to pair. One thread at a time.
class Looker {
 public:
  // Bytes that a comparison takes, three pictures with it, at most.
  static constexpr std::uint64_t kMemory = 192ULL << 20;

  Looker();
  ~Looker();
  Looker(const Looker&) = delete;
  Looker& operator=(const Looker&) = delete;

  // `first` and `second` in one order whatever the caller's, as by the hash of their contents: the last bits of a
  // verdict depend on it. `start` is a guess of where they meet, beside those that are made here: a point (x, y) of the
  // first, whose sides span [-0.5, 0.5], lies at (m0 + m1 x + m2 y, m3 + m4 x + m5 y) of the second.
  Verdict compare(const Prepared& first, const Prepared& second, const std::optional<std::array<float, 6>>& start = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace::closelook
