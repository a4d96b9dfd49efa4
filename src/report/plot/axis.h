// Input: the least and the greatest number that shall be seen.
// Output: an axis: its ends, ticks at 1, 2 or 5 times a power of ten with their texts, and where a number lies on it.
// Never: a place that is not finite, whatever numbers come in.
#pragma once

#include <string>
#include <vector>

namespace millrace::report {

enum class Scale { linear, log10 };

struct Tick {
  double at = 0;
  std::string label;
};

class Axis {
 public:
  struct Look {
    Scale scale = Scale::linear;
    int ticks = 5;              // about so many; 2 or more
    bool ends_at_ticks = true;  // else the ends are those of the numbers
    bool whole = false;         // steps and counts: ticks at whole numbers only
  };

  // NaN, infinite or swapped ends are taken as [0, 1], or as what is left of them; equal ends are moved apart. On a
  // logarithmic scale what is not above zero is left out of account, and without anything left it is [1, 10].
  Axis(double low, double high, const Look& look);

  double low() const { return low_; }
  double high() const { return high_; }
  Scale scale() const { return look_.scale; }
  const std::vector<Tick>& ticks() const { return ticks_; }
  // Labels are of the number divided by this power of ten.
  int exponent() const { return exponent_; }
  // What the axis's title has behind it for that: " (×10⁵)", or nothing.
  std::string factor() const;

  // From 0, at the low end, to 1; what lies beyond is at the end. Never asked of what shows() is false for.
  double place(double value) const;
  // Whether a number has a place at all: finite, and above zero on a logarithmic scale.
  bool shows(double value) const;

 private:
  void place_linear_ticks();
  void place_decades();

  Look look_;
  double low_, high_;
  double log_low_ = 0, log_high_ = 1;
  int exponent_ = 0;
  std::vector<Tick> ticks_;
};

// The least and greatest of what an axis is to show.
class Range {
 public:
  explicit Range(Scale scale = Scale::linear) : scale_(scale) {}
  void add(double value);
  void add(const std::vector<double>& values) {
    for (const double value : values) add(value);
  }
  // NaN where nothing was added.
  double low() const { return low_; }
  double high() const { return high_; }

 private:
  Scale scale_;
  double low_ = kNone, high_ = kNone;
  static const double kNone;
};

}  // namespace millrace::report
