// Input: the lumas of two pictures on one raster.
// Output: the places where each shows finer detail than the other.
// Never: takes noise or compression artifacts for detail.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "src/kernels/detailed_check/detailed_check_steps.h"

namespace millrace::detailed_check {

// Frames of a focus stack, each in focus somewhere else, show the same things. A copy may be sharper or softer than its
// original, but everywhere. Compression favours one picture at some lines and the other at others. So a place counts
// where three of its eight neighbours agree with it, and none says the opposite. None of 13 designs at quality 40 and
// as WebP had such places for both.
class FocusComparison {
 public:
  // docs/design/detailed-check.md gives the reasons for the constants of this file.
  static constexpr int kPlace = 64;  // pixels, along a side

  // Ratio by which each picture's detail exceeds the other's in one place. Only detail that both share counts; the
  // noise of one picture does not.
  struct Place {
    float first = 0, second = 0;  // 0: they have no detail in common
    bool unlike = false;          // true if both have as much detail, but none in common: noise
  };

  explicit FocusComparison(const Size& raster);
  void add(int left, int top, const Place& place);

  struct Verdict {
    // Place that tells the pictures apart, if each is in focus somewhere: the strongest place of the picture that is
    // sharper in fewer places.
    std::optional<PixelBox> differs;
    // True if sharper in some places and not everywhere. A sharpened copy is sharper everywhere, and so is an original
    // compared with its soft copy.
    bool first_sharper = false, second_sharper = false;
  };
  Verdict verdict() const;
  // True for two exposures of something that has no detail.
  bool has_no_common_detail() const;

 private:
  struct Sharper {
    std::int64_t places = 0;
    float most = 0;
    PixelBox strongest;
  };
  Sharper sharper(float Place::*one, float Place::*other) const;

  int columns_, rows_;
  std::vector<Place> places_;
};

struct FocusScratch {
  static constexpr std::size_t kLevels = 5;
  // Reductions, each half as wide and as high as the level before; the finest level is not kept.
  std::array<Plane, kLevels - 1> halves_first, halves_second;
  std::vector<float> sums;
};

// Places of a part of a raster, row by row. `finest` is the finest level to compare: 0, or 1 where the second picture
// was interpolated between its pixels. `valid` is 1 where both are seen; null: everywhere.
struct FocusPlaces {
  int columns = 0;
  std::vector<FocusComparison::Place> places;
};
FocusPlaces find_focus_places(const Plane& first, const Plane& second, const Plane* valid, std::size_t finest,
                              FocusScratch& scratch);

}  // namespace millrace::detailed_check
