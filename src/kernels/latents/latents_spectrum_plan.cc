#include <algorithm>

#include "src/kernels/elementary.h"
#include "src/kernels/latents/latents_steps.h"

namespace millrace::latents {

template <typename T>
RowTransform<T>::RowTransform(int row_width, int bin_count)
    : width(static_cast<std::size_t>(row_width)), bins(static_cast<std::size_t>(bin_count)) {
  const bool even = width % 2 == 0;
  const std::size_t period = even ? width / 2 : width;
  const auto add = [&](std::size_t parity, bool imaginary, std::size_t begin, std::size_t end) {
    Part part;
    part.imaginary = imaginary;
    part.first = parity;
    part.step = even ? 2 : 1;
    part.bins = bins > parity ? (bins - parity + part.step - 1) / part.step : 0;
    part.terms = end - begin;
    part.weights.resize(part.bins * part.terms);
    for (std::size_t b = 0; b < part.bins; ++b) {
      const std::size_t k = part.first + b * part.step;
      for (std::size_t n = begin; n < end; ++n) {
        const long turn = static_cast<long>(k * n % width), all = static_cast<long>(width);
        part.weights[b * part.terms + n - begin] =
            static_cast<T>(imaginary ? -sine_of_turn(turn, all) : cosine_of_turn(turn, all));
      }
    }
    most_terms = std::max(most_terms, part.terms);
    parts.push_back(std::move(part));
  };
  // A column that is its own mirror is a term by itself: its cosine or its sine is 0 where the two would be subtracted.
  const std::size_t with_middle = period / 2 + 1, without = (period + 1) / 2;
  add(0, false, 0, with_middle);
  add(0, true, 1, without);
  if (!even) return;
  add(1, false, 0, without);
  add(1, true, 1, with_middle);
}

template <typename T>
ColumnTransform<T>::ColumnTransform(int column_height) : height(static_cast<std::size_t>(column_height)) {
  std::vector<std::size_t> radices;
  std::size_t left = height;
  for (std::size_t radix = 4; left > 1; radix = radix == 4 ? 2 : radix == 2 ? 3 : radix + 2) {
    while (left % radix == 0) {
      radices.push_back(radix);
      left /= radix;
    }
  }
  // Radices with most twiddle factors come first, because the first step has none.
  std::sort(radices.rbegin(), radices.rend());
  std::size_t before = 1;
  for (const std::size_t radix : radices) {
    Step step;
    step.radix = radix;
    step.before = before;
    const auto all = static_cast<long>(before * radix);
    for (std::size_t j = 0; j < before; ++j) {
      for (std::size_t q = 1; q < radix; ++q) {
        step.twiddles.push_back(static_cast<T>(cosine_of_turn(static_cast<long>(j * q), all)));
        step.twiddles.push_back(static_cast<T>(-sine_of_turn(static_cast<long>(j * q), all)));
      }
    }
    if (radix % 2 == 1) {
      for (std::size_t k = 1; k <= radix / 2; ++k) {
        for (std::size_t q = 1; q <= radix / 2; ++q) {
          step.cosines.push_back(static_cast<T>(cosine_of_turn(static_cast<long>(k * q), static_cast<long>(radix))));
          step.sines.push_back(static_cast<T>(sine_of_turn(static_cast<long>(k * q), static_cast<long>(radix))));
        }
      }
    }
    steps.push_back(std::move(step));
    before *= radix;
  }
}

SpectrumPlan::SpectrumPlan(int frame_height, int frame_width)
    : height(frame_height),
      width(frame_width),
      radii(std::max(0, std::min(frame_height / 2, frame_width / 2) - 1)),
      rows(frame_width, radii + 1),
      columns(frame_height),
      image_rows(frame_width, frame_width / 2 + 1),
      image_columns(frame_height) {
  for (int kx = 0; radii > 0 && kx <= radii; ++kx) {
    for (int ky = 0; ky < height; ++ky) {
      const int y = ky <= height / 2 ? ky : ky - height;
      // The radius k has |radius - k| < 1/2. Squared radii are whole numbers, so that (k - 1/2)^2 is never reached
      // exactly.
      const int squared = kx * kx + y * y;
      int k = 0;
      while ((2 * k + 1) * (2 * k + 1) < 4 * squared) ++k;
      rings.push_back(static_cast<std::uint16_t>(k > radii ? 0 : k));
    }
  }
}

// Memory for four parts of folded rows, of which up to four rows are processed together. It also holds the rows' bins,
// and two columns to alternate between.
std::size_t SpectrumPlan::scratch_floats() const {
  const auto h = static_cast<std::size_t>(height);
  return kLanes * (16 * rows.most_terms + 2 * bins() + 4 * h);
}
std::size_t SpectrumPlan::scratch_doubles() const {
  const auto h = static_cast<std::size_t>(height), w = static_cast<std::size_t>(width);
  constexpr std::size_t kEach = kLanes / 2;
  return kEach * (w + 4 * image_rows.most_terms + 2 * image_rows.bins + 6 * h + 2 * h * (image_rows.bins / kEach + 1));
}

template struct RowTransform<float>;
template struct RowTransform<double>;
template struct ColumnTransform<float>;
template struct ColumnTransform<double>;

}  // namespace millrace::latents
