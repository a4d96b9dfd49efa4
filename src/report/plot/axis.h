// Input: the smallest and the greatest number to be shown.
// Output: an axis with its ends, and ticks at 1, 2 or 5 times a power of ten with their texts. It returns the place of
//   a number.
// Never: returns a place that is not finite, for any numbers.
#pragma once

#include <string>
#include <vector>

namespace millrace::report {

enum class AxisScale { linear, log10 };

struct AxisTick {
  double at = 0;
  std::string label;
};

class Axis {
 public:
  struct Style {
    AxisScale scale = AxisScale::linear;
    int ticks = 5;              // approximate number; 2 or more
    bool ends_at_ticks = true;  // false: the ends are those of the numbers
    bool whole = false;         // steps and counts: ticks at whole numbers only
  };

  // Ends that are NaN or infinite are replaced by the other end, or by [0, 1]. Swapped ends are exchanged; equal ends
  // are moved apart. On a logarithmic scale, ends that are not above zero are ignored; without any end it is [1, 10].
  Axis(double low, double high, const Style& style);

  double low() const { return low_; }
  double high() const { return high_; }
  AxisScale scale() const { return style_.scale; }
  const std::vector<AxisTick>& ticks() const { return ticks_; }
  // Power of ten by which numbers are divided in labels.
  int exponent() const { return exponent_; }
  // Returns the suffix of the axis's title for that: " (×10⁵)", or an empty text.
  std::string factor() const;

  // Returns a place from 0, the low end, to 1; numbers beyond an end are at it. It is meant for numbers that shows()
  // accepts.
  double place(double value) const;
  // True if a number has a place: it is finite, and above zero on a logarithmic scale.
  bool can_show(double value) const;

 private:
  void place_linear_ticks();
  void place_decades();

  Style style_;
  double low_, high_;
  double log_low_ = 0, log_high_ = 1;
  int exponent_ = 0;
  std::vector<AxisTick> ticks_;
};

// Smallest and greatest number that an axis is to show.
class ValueRange {
 public:
  explicit ValueRange(AxisScale scale = AxisScale::linear) : scale_(scale) {}
  void add(double value);
  void add(const std::vector<double>& values) {
    for (const double value : values) add(value);
  }
  // NaN where nothing was added.
  double low() const { return low_; }
  double high() const { return high_; }

 private:
  AxisScale scale_;
  double low_ = kNone, high_ = kNone;
  static const double kNone;
};

}  // namespace millrace::report
