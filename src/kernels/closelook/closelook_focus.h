// Input: the lumas of two pictures on one raster.
// Output: where each shows finer detail than the other.
// Never: takes noise, or what compression leaves, for detail.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "src/kernels/closelook/closelook_steps.h"

namespace millrace::closelook {

// Frames of a stack, each in focus somewhere else, show the same things. A copy may be sharper or softer than its
// original, but all over; what compression does to lines is here for the one and there for the other. So a place counts
// where three of its eight neighbours say the same, and none the opposite: of 13 designs at quality 40 and as WebP none
// had such places for both.
class Focus {
 public:
  static constexpr int kPlace = 64;  // pixels, along a side

  // A place tells how much larger the one's detail is, as far as it is also the other's: noise of
  // its own does not count.
  struct Place {
    float first = 0, second = 0;  // 0: they have no detail in common
    bool unlike = false;          // as much of it in both, of which nothing is the same: noise
  };

  explicit Focus(const Size& raster);
  void add(int left, int top, const Place& place);

  struct Verdict {
    // The place that tells them apart, if each is in focus somewhere: of the one that is so in fewer places the
    // strongest.
    std::optional<Box> differs;
    // In some places and not all over, as a sharpened copy or an original before its soft copy is.
    bool first_sharper = false, second_sharper = false;
  };
  Verdict verdict() const;
  // Two exposures of something that has no detail.
  bool shares_nothing() const;

 private:
  struct Sharper {
    std::int64_t places = 0;
    float most = 0;
    Box strongest;
  };
  Sharper sharper(float Place::*one, float Place::*other) const;

  int columns_, rows_;
  std::vector<Place> places_;
};

struct FocusScratch {
  static constexpr std::size_t kLevels = 5;
  // Each half as wide and as high as the level before; the finest are not kept.
  std::array<Plane, kLevels - 1> halves_first, halves_second;
  std::vector<float> sums;
};

// Rows of the places of a part of a raster. `finest`: 0, or 1 where the second was brought there between its pixels.
// `valid` is 1 where both are seen; null: everywhere.
struct SeenPlaces {
  int columns = 0;
  std::vector<Focus::Place> places;
};
SeenPlaces places_of(const Plane& first, const Plane& second, const Plane* valid, std::size_t finest,
                     FocusScratch& scratch);

}  // namespace millrace::closelook
