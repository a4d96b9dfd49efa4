#include "src/kernels/detailed_check/detailed_check_focus.h"

#include <algorithm>
#include <cmath>

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/detailed_check/detailed_check_focus.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "src/kernels/floats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::detailed_check::HWY_NAMESPACE {
using floats::HWY_NAMESPACE::Floats;

using Eight = Floats<8>;

// Second difference: four times a pixel minus its four neighbours.
HWY_INLINE Eight detail_at(const float* above, const float* at, const float* below) {
  return Eight::all(4) * Eight::at(at) - (Eight::at(above) + Eight::at(below)) -
         (Eight::at(at - 1) + Eight::at(at + 1));
}

// Adds the products of a row's details, first with first, second with second, first with second.
void AddDetail(const Plane& first, const Plane& second, int y, float* own_first, float* own_second, float* both) {
  const float *f[3] = {first.row(y - 1), first.row(y), first.row(y + 1)},
              *s[3] = {second.row(y - 1), second.row(y), second.row(y + 1)};
  for (int x = 0; x < first.width(); x += 8) {
    const Eight a = detail_at(f[0] + x, f[1] + x, f[2] + x), b = detail_at(s[0] + x, s[1] + x, s[2] + x);
    (Eight::at(own_first + x) + a * a).put(own_first + x);
    (Eight::at(own_second + x) + b * b).put(own_second + x);
    (Eight::at(both + x) + a * b).put(both + x);
  }
}

}  // namespace millrace::detailed_check::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::detailed_check {
namespace {

// docs/design/detailed-check.md gives the reasons for the constants of this file.

HWY_EXPORT(AddDetail);

constexpr int kPlace = FocusComparison::kPlace;

// Means of products over a place.
struct Products {
  double first = 0, second = 0, both = 0;

  double agreement() const { return both / std::sqrt(first * second + 1e-9); }
  double least() const { return std::min(first, second); }
  bool unlike() const {
    constexpr double kSomething = 4, kAsMuch = 0.25, kOfTheOther = 0.2;
    return least() > kSomething && least() > kAsMuch * std::max(first, second) && std::fabs(agreement()) < kOfTheOther;
  }
};

// Computes the products in each place of one row of places.
void take_row(const Plane& first, const Plane& second, int row, int place, int places, std::vector<float>& columns,
              std::vector<Products>& out) {
  const int w = first.width();
  const auto width = static_cast<std::size_t>((w + 7) / 8 * 8);
  columns.assign(3 * width, 0.0F);
  float* const sums = columns.data();
  const int begin = std::max(1, row * place), end = std::min(first.height() - 1, (row + 1) * place);
  for (int y = begin; y < end; ++y)
    HWY_DYNAMIC_DISPATCH(AddDetail)(first, second, y, sums, sums + width, sums + 2 * width);
  out.assign(static_cast<std::size_t>(places), Products());
  for (int p = 0; p < places; ++p) {
    Products& to = out[static_cast<std::size_t>(p)];
    const int left = std::max(1, p * place), right = std::min(w - 1, (p + 1) * place);
    for (int x = left; x < right; ++x) {
      to.first += static_cast<double>(sums[x]);
      to.second += static_cast<double>(sums[width + static_cast<std::size_t>(x)]);
      to.both += static_cast<double>(sums[2 * width + static_cast<std::size_t>(x)]);
    }
    const double n = std::max(1, (right - left) * (end - begin));
    to = {to.first / n, to.second / n, to.both / n};
  }
}

bool all_seen(const Plane* valid, int left, int top) {
  for (int y = top; valid != nullptr && y < top + kPlace; ++y) {
    const float* const row = valid->row(y) + left;
    if (std::find(row, row + kPlace, 0.0F) != row + kPlace) return false;
  }
  return true;
}

// Compares detail with detail that is four times as coarse, so that a difference of tone cancels.
FocusComparison::Place gains_of(const Products& fine, const Products& coarse) {
  constexpr double kLittle = 1, kLittleCoarse = 4, kAgrees = 0.5, kAgreesCoarse = 0.8;
  if (fine.least() <= kLittle || coarse.least() <= kLittleCoarse || fine.agreement() <= kAgrees ||
      coarse.agreement() <= kAgreesCoarse)
    return {};
  const double tone = std::sqrt(coarse.second / coarse.first);
  return {static_cast<float>(fine.both / fine.second * tone), static_cast<float>(fine.both / (fine.first * tone)),
          false};
}

// Adds a measurement of a place to earlier ones.
void take(const FocusComparison::Place& seen, FocusComparison::Place& place) {
  place.first = std::max(place.first, seen.first);
  place.second = std::max(place.second, seen.second);
  place.unlike = place.first == 0 && (place.unlike || seen.unlike);
}

constexpr float kSharper = 1.1F;

}  // namespace

FocusPlaces find_focus_places(const Plane& first, const Plane& second, const Plane* valid, std::size_t finest,
                              FocusScratch& scratch) {
  constexpr std::size_t kApart = 2;  // levels from what is fine to what is coarse
  constexpr std::size_t kLevels = FocusScratch::kLevels;
  std::array<const Plane*, kLevels> firsts = {&first}, seconds = {&second};
  for (std::size_t k = 1; k < kLevels; ++k) {
    halve(*firsts[k - 1], scratch.halves_first[k - 1]);
    halve(*seconds[k - 1], scratch.halves_second[k - 1]);
    firsts[k] = &scratch.halves_first[k - 1];
    seconds[k] = &scratch.halves_second[k - 1];
  }
  FocusPlaces out;
  out.columns = first.width() / kPlace;
  const int rows = first.height() / kPlace;
  std::array<std::vector<Products>, kLevels> products;
  for (int row = 0; row < rows; ++row) {
    for (std::size_t k = finest; k < kLevels; ++k)
      take_row(*firsts[k], *seconds[k], row, kPlace >> k, out.columns, scratch.sums, products[k]);
    for (int column = 0; column < out.columns; ++column) {
      FocusComparison::Place& place = out.places.emplace_back();
      if (!all_seen(valid, column * kPlace, row * kPlace)) continue;
      const auto at = static_cast<std::size_t>(column);
      for (std::size_t k = finest; k + kApart < kLevels; ++k)
        take(gains_of(products[k][at], products[k + kApart][at]), place);
      place.unlike = place.first == 0 && products[finest][at].unlike();
    }
  }
  return out;
}

FocusComparison::FocusComparison(const Size& raster)
    : columns_(raster.width / kPlace + 1), rows_(raster.height / kPlace + 1) {
  places_.resize(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_));
}

// Adds to the nearest place, because tiles overlap and begin anywhere.
void FocusComparison::add(int left, int top, const Place& place) {
  const int column = std::clamp((left + kPlace / 2) / kPlace, 0, columns_ - 1),
            row = std::clamp((top + kPlace / 2) / kPlace, 0, rows_ - 1);
  take(place,
       places_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(column)]);
}

FocusComparison::Sharper FocusComparison::sharper(float Place::*one, float Place::*other) const {
  constexpr int kMinCount = 3;
  const auto at = [&](int column, int row) -> const Place& {
    return places_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) +
                   static_cast<std::size_t>(column)];
  };
  Sharper out;
  for (int row = 0; row < rows_; ++row) {
    for (int column = 0; column < columns_; ++column) {
      const Place& here = at(column, row);
      if (here.*one <= kSharper) continue;
      int same = -1, opposite = 0;  // itself is not counted
      for (int y = std::max(0, row - 1); y <= std::min(rows_ - 1, row + 1); ++y) {
        for (int x = std::max(0, column - 1); x <= std::min(columns_ - 1, column + 1); ++x) {
          same += at(x, y).*one > kSharper ? 1 : 0;
          opposite += at(x, y).*other > kSharper ? 1 : 0;
        }
      }
      if (same < kMinCount || opposite > 0) continue;
      ++out.places;
      if (here.*one <= out.most) continue;
      out.most = here.*one;
      out.strongest = {column * kPlace, row * kPlace, (column + 1) * kPlace, (row + 1) * kPlace};
    }
  }
  return out;
}

FocusComparison::Verdict FocusComparison::verdict() const {
  constexpr std::int64_t kMinCount = 6, kOneIn = 100, kNotInOneOf = 3;
  const auto common = std::count_if(places_.begin(), places_.end(), [](const Place& place) { return place.first > 0; });
  const std::int64_t some = std::max<std::int64_t>(kMinCount, common / kOneIn);
  const Sharper first = sharper(&Place::first, &Place::second), second = sharper(&Place::second, &Place::first);
  const auto here_and_there = [&](const Sharper& one) {
    return one.places >= some && kNotInOneOf * one.places < common;
  };
  Verdict out;
  const Sharper& fewer = first.places < second.places ? first : second;
  if (fewer.places >= some) out.differs = fewer.strongest;
  out.first_sharper = here_and_there(first);
  out.second_sharper = here_and_there(second);
  return out;
}

bool FocusComparison::has_no_common_detail() const {
  constexpr std::ptrdiff_t kMinCount = 16, kOneIn = 50;
  const auto common = std::count_if(places_.begin(), places_.end(), [](const Place& place) { return place.first > 0; });
  const auto unlike = std::count_if(places_.begin(), places_.end(), [](const Place& place) { return place.unlike; });
  return unlike >= kMinCount && common <= unlike / kOneIn;
}

}  // namespace millrace::detailed_check
#endif
