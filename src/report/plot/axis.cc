#include "src/report/plot/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "src/kernels/elementary.h"
#include "src/report/number_format.h"

namespace millrace::report {
namespace {

// Largest magnitude of an end: beyond it the distance of two ends is no double.
constexpr double kMaxMagnitude = 8e307;
// Ends of logarithmic scales. Smaller and larger values lie at an end: nobody needs decades of subnormal numbers.
constexpr double kMinDecades = 1e-300, kMaxDecades = 1e300;
// Smallest distance of two ends, as a share of them: below it a double cannot tell ticks between them apart.
constexpr double kNearest = 1e-9;

// Returns digits x 10^exponent, correctly rounded, which no product of two doubles is.
double decimal(long long digits, int exponent) {
  const std::string text = fmt::format("{}e{}", digits, exponent);
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc::result_out_of_range) return exponent < 0 ? 0 : digits < 0 ? -kMaxMagnitude : kMaxMagnitude;
  return value;
}

// Distance of ticks: 1, 2 or 5 times a power of ten.
struct Pitch {
  int digit, exponent;
  double value() const { return decimal(digit, exponent); }
};

Pitch pitch_for(double span, int ticks) {
  const double raw = std::max(span / ticks, std::numeric_limits<double>::min());
  const int exponent = decade_of(raw);
  for (const int digit : {1, 2, 5}) {
    // Ticks that are a little too dense are better than ticks that are much too sparse.
    if (decimal(digit, exponent) >= raw * 0.9) return {digit, exponent};
  }
  return {1, exponent + 1};
}

}  // namespace

const double ValueRange::kNone = std::numeric_limits<double>::quiet_NaN();

void ValueRange::add(double value) {
  if (!std::isfinite(value) || (scale_ == AxisScale::log10 && value <= 0)) return;
  low_ = low_ <= value ? low_ : value;
  high_ = high_ >= value ? high_ : value;
}

Axis::Axis(double low, double high, const Style& style) : style_(style), low_(low), high_(high) {
  const bool logarithmic = style.scale == AxisScale::log10;
  if (!can_show(low_)) low_ = can_show(high_) ? high_ : logarithmic ? 1 : 0;
  if (!can_show(high_)) high_ = can_show(low) ? low_ : logarithmic ? 10 : 1;
  low_ = logarithmic ? std::clamp(low_, kMinDecades, kMaxDecades) : std::clamp(low_, -kMaxMagnitude, kMaxMagnitude);
  high_ = logarithmic ? std::clamp(high_, kMinDecades, kMaxDecades) : std::clamp(high_, -kMaxMagnitude, kMaxMagnitude);
  if (low_ > high_) std::swap(low_, high_);
  if (logarithmic) {
    place_decades();
  } else {
    place_linear_ticks();
  }
}

void Axis::place_linear_ticks() {
  const double size = std::max(std::fabs(low_), std::fabs(high_));
  if (high_ - low_ <= size * kNearest) {
    const double apart = style_.whole ? 0.5 : size == 0 ? 1 : size / 10;
    low_ = std::max(low_ - apart, -kMaxMagnitude);
    high_ = std::min(high_ + apart, kMaxMagnitude);
  }
  Pitch pitch = pitch_for(high_ - low_, style_.ticks);
  if (style_.whole && pitch.exponent < 0) pitch = {1, 0};
  const double step = pitch.value();
  // Half a thousandth of a step counts as rounding.
  constexpr double kSlack = 5e-4;
  auto first = static_cast<long long>(std::ceil(low_ / step - kSlack));
  auto last = static_cast<long long>(std::floor(high_ / step + kSlack));
  if (style_.ends_at_ticks) {
    first = static_cast<long long>(std::floor(low_ / step + kSlack));
    last = static_cast<long long>(std::ceil(high_ / step - kSlack));
  }
  if (first <= last) {
    low_ = std::min(low_, decimal(first * pitch.digit, pitch.exponent));
    high_ = std::max(high_, decimal(last * pitch.digit, pitch.exponent));
  }
  const double largest = std::max(std::fabs(decimal(first * pitch.digit, pitch.exponent)),
                                  std::fabs(decimal(last * pitch.digit, pitch.exponent)));
  const int decade = largest > 0 ? decade_of(largest) : 0;
  if (decade >= 5 || decade <= -3) exponent_ = style_.whole && decade < 7 ? 0 : decade;
  for (long long k = first; k <= last; ++k) {
    const double shown = decimal(k * pitch.digit, pitch.exponent - exponent_);
    ticks_.push_back(
        {decimal(k * pitch.digit, pitch.exponent), format_fixed(shown, std::max(0, exponent_ - pitch.exponent))});
  }
}

void Axis::place_decades() {
  if (high_ / low_ < 1 + kNearest) {
    low_ /= 2;
    high_ *= 2;
  }
  int first = decade_of(low_), last = decade_of(high_);
  if (decimal(1, last) < high_) ++last;
  const int decades = last - first;
  const int pitch = std::max(1, (decades + style_.ticks - 1) / style_.ticks);
  // Ticks at 2 and 5 are added if there are few decades.
  const bool between = decades <= 2;
  for (int e = first; e <= last; e += pitch) {
    const bool plain = first >= -3 && last <= 4;
    for (const int digit : {1, 2, 5}) {
      if (digit > 1 && !between) break;
      const double at = decimal(digit, e);
      const std::string label = plain        ? format_number(at, 1)
                                : digit == 1 ? "10" + format_superscript(e)
                                             : fmt::format("{}\u00D710{}", digit, format_superscript(e));
      ticks_.push_back({at, label});
    }
  }
  const auto below = [this](const AxisTick& tick) { return tick.at < low_; };
  const auto above = [this](const AxisTick& tick) { return tick.at > high_; };
  if (style_.ends_at_ticks) {
    // The nearest ticks outside become the ends.
    for (const AxisTick& tick : ticks_) {
      if (tick.at >= high_) {
        high_ = tick.at;
        break;
      }
    }
    for (auto tick = ticks_.rbegin(); tick != ticks_.rend(); ++tick) {
      if (tick->at <= low_ && tick->at > 0) {
        low_ = tick->at;
        break;
      }
    }
  }
  std::erase_if(ticks_, below);
  std::erase_if(ticks_, above);
  log_low_ = logarithm(low_);
  log_high_ = logarithm(high_);
}

std::string Axis::factor() const {
  return exponent_ == 0 ? std::string() : " (\u00D710" + format_superscript(exponent_) + ")";
}

bool Axis::can_show(double value) const {
  return std::isfinite(value) && (style_.scale == AxisScale::linear || value > 0);
}

double Axis::place(double value) const {
  if (!can_show(value)) return 0;
  const double part = style_.scale == AxisScale::log10 ? (logarithm(value) - log_low_) / (log_high_ - log_low_)
                                                       : (std::clamp(value, low_, high_) - low_) / (high_ - low_);
  return std::clamp(part, 0.0, 1.0);
}

}  // namespace millrace::report
