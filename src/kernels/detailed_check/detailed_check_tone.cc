#include <algorithm>
#include <cmath>

#include "src/kernels/detailed_check/detailed_check_steps.h"
#include "src/kernels/solve.h"

namespace millrace::detailed_check {
namespace {

// docs/design/detailed-check.md gives the reasons for the constants of this file.
constexpr std::size_t kUnknowns = Tone::kKnots;  // the first knot, and sixteen rises
constexpr double kStep = 255.0 / (Tone::kKnots - 1);
// A flatter curve would erase text, a steeper one would make some.
constexpr double kFlattest = kStep / 3, kSteepest = kStep * 3;
constexpr std::size_t kBins = 64;
constexpr int kEach = 2;  // every second pixel and row: both pictures are blurred

using Histogram = std::vector<std::uint32_t>;  // kBins x 256: levels of the target for each bin of the source

using Matrix = std::array<std::array<double, kUnknowns>, kUnknowns>;
using Vector = std::array<double, kUnknowns>;

// Least squares with bounds: an unknown that would leave its bounds is held there, and freed again where the slope says
// so.
Vector solve_bounded(const Matrix& h, const Vector& b, const Vector& low, const Vector& high, Vector x) {
  std::array<int, kUnknowns> held{};  // -1 at its lower bound, 1 at its upper, 0 free
  for (int round = 0; round < 200; ++round) {
    // Solves for the free unknowns while the others are held.
    Matrix part{};
    Vector free{};
    for (std::size_t i = 0; i < kUnknowns; ++i) {
      if (held[i] != 0) {
        part[i][i] = 1;
        free[i] = x[i];
        continue;
      }
      free[i] = b[i];
      for (std::size_t j = 0; j < kUnknowns; ++j) {
        if (held[j] != 0) free[i] -= h[i][j] * x[j];
        if (held[j] == 0 && j <= i) part[i][j] = h[i][j];
      }
    }
    if (!solve_positive(part, free)) return x;
    // Moves towards the solution as far as the bounds allow.
    double way = 1;
    std::size_t first = kUnknowns;
    for (std::size_t i = 0; i < kUnknowns; ++i) {
      if (held[i] != 0) continue;
      const double bound = free[i] < low[i] ? low[i] : (free[i] > high[i] ? high[i] : free[i]);
      if (bound == free[i]) continue;
      const double part_way = (bound - x[i]) / (free[i] - x[i]);
      if (part_way < way) {
        way = part_way;
        first = i;
      }
    }
    for (std::size_t i = 0; i < kUnknowns; ++i) {
      if (held[i] == 0) x[i] = std::clamp(x[i] + way * (free[i] - x[i]), low[i], high[i]);
    }
    if (first < kUnknowns) {
      held[first] = free[first] < low[first] ? -1 : 1;
      x[first] = held[first] < 0 ? low[first] : high[first];
      continue;
    }
    double worst = 1e-9;
    std::size_t loose = kUnknowns;
    for (std::size_t i = 0; i < kUnknowns; ++i) {
      if (held[i] == 0) continue;
      double slope = -b[i];
      for (std::size_t j = 0; j < kUnknowns; ++j) slope += h[i][j] * x[j];
      const double gain = held[i] < 0 ? -slope : slope;
      if (gain > worst) {
        worst = gain;
        loose = i;
      }
    }
    if (loose == kUnknowns) break;
    held[loose] = 0;
  }
  return x;
}

// Fits the curve to the medians of the bins.
std::array<float, Tone::kKnots> fit_curve(const Histogram& histogram, double samples) {
  Matrix h{};
  Vector b{};
  const auto add = [&](const Vector& row, double target, double weight) {
    for (std::size_t p = 0; p < kUnknowns; ++p) {
      if (row[p] == 0) continue;
      for (std::size_t q = 0; q < kUnknowns; ++q) h[p][q] += weight * row[p] * row[q];
      b[p] += weight * row[p] * target;
    }
  };
  bool any = false;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    const std::uint32_t* levels = histogram.data() + bin * 256;
    std::uint64_t count = 0;
    for (std::size_t v = 0; v < 256; ++v) count += levels[v];
    if (static_cast<double>(count) <= std::max(8.0, samples * 2e-4)) continue;
    any = true;
    std::uint64_t sum = 0;
    double median = 0;
    for (std::size_t v = 0; v < 256; ++v) {
      sum += levels[v];
      if (2 * sum < count) median = static_cast<double>(v) + 1;
    }
    double weight = static_cast<double>(count) / samples;
    // Levels that the target clips only bound the curve.
    if (median >= 253 || median <= 2) weight *= 0.15 * 0.15;
    Vector row{};
    row[0] = 1;
    const double level = (static_cast<double>(bin) + 0.5) * 4 - 0.5;
    for (std::size_t j = 1; j < kUnknowns; ++j)
      row[j] = std::clamp((level - static_cast<double>(j - 1) * kStep) / kStep, 0.0, 1.0);
    add(row, median, weight);
  }
  std::array<float, Tone::kKnots> out;
  if (!any) {
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = static_cast<float>(static_cast<double>(k) * kStep);
    return out;
  }
  // Priors: few bends, and no change without evidence.
  constexpr double kBend = 0.03 * 0.03, kHome = 0.004 * 0.004;
  for (std::size_t j = 1; j < kUnknowns; ++j) {
    Vector row{};
    row[j] = 1;
    add(row, kStep, kHome);
    if (j + 1 == kUnknowns) continue;
    row[j + 1] = -1;
    add(row, 0, kBend);
  }
  Vector low, high, x;
  low.fill(kFlattest);
  high.fill(kSteepest);
  x.fill(kStep);
  low[0] = -200;
  high[0] = 255;
  x[0] = 0;
  h[0][0] += 1e-9;
  x = solve_bounded(h, b, low, high, x);
  double level = x[0];
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (k > 0) level += x[k];
    out[k] = static_cast<float>(level);
  }
  return out;
}

std::size_t bin_of(float source, float target) {
  const auto bin = static_cast<std::size_t>(std::clamp(source * 0.25F, 0.0F, 63.0F));
  return bin * 256 + static_cast<std::size_t>(std::clamp(target, 0.0F, 255.0F));
}

float luma(float r, float g, float b) { return 0.299F * r + 0.587F * g + 0.114F * b; }

// Returns the change of saturation that brings the source's chroma, after the curve, nearest to the target's.
float fit_saturation(const Tone& tone, const Colour& source, const Colour& target, const Plane& valid) {
  double product = 0, square = 0, count = 0;
  for (int y = 0; y < valid.height(); y += kEach) {
    const float* in = valid.row(y);
    const float *sr = source[0].row(y), *sg = source[1].row(y), *sb = source[2].row(y);
    const float *tr = target[0].row(y), *tg = target[1].row(y), *tb = target[2].row(y);
    float line = 0, line2 = 0;
    for (int x = 0; x < valid.width(); x += kEach) {
      if (in[x] == 0) continue;
      count += 1;
      const float r = tone.at(sr[x]), g = tone.at(sg[x]), b = tone.at(sb[x]);
      const float s = luma(r, g, b), t = luma(tr[x], tg[x], tb[x]);
      line += (r - s) * (tr[x] - t) + (g - s) * (tg[x] - t) + (b - s) * (tb[x] - t);
      line2 += (r - s) * (r - s) + (g - s) * (g - s) + (b - s) * (b - s);
    }
    product += static_cast<double>(line);
    square += static_cast<double>(line2);
  }
  square += 1e3;
  if (square <= 6 * count) return 1;
  const double out = std::clamp(product / square, 0.4, 2.5);
  return std::fabs(out - 1) < 0.03 ? 1.0F : static_cast<float>(out);
}

}  // namespace

Tone fit_tone(const Colour& source, const Colour& target, const Plane& valid) {
  Tone tone;
  Histogram histogram(kBins * 256, 0);
  double samples = 0;
  for (int y = 0; y < valid.height(); y += kEach) {
    const float* in = valid.row(y);
    const float *sr = source[0].row(y), *sg = source[1].row(y), *sb = source[2].row(y);
    const float *tr = target[0].row(y), *tg = target[1].row(y), *tb = target[2].row(y);
    for (int x = 0; x < valid.width(); x += kEach) {
      if (in[x] == 0) continue;
      ++histogram[bin_of(luma(sr[x], sg[x], sb[x]), luma(tr[x], tg[x], tb[x]))];
      ++samples;
    }
  }
  tone.knots = fit_curve(histogram, samples);
  for (int round = 0; round < 2; ++round) {
    tone.saturation = fit_saturation(tone, source, target, valid);
    std::fill(histogram.begin(), histogram.end(), 0U);
    samples = 0;
    for (int y = 0; y < valid.height(); y += kEach) {
      const float* in = valid.row(y);
      const float *sr = source[0].row(y), *sg = source[1].row(y), *sb = source[2].row(y);
      for (int x = 0; x < valid.width(); x += kEach) {
        if (in[x] == 0) continue;
        const float s = luma(sr[x], sg[x], sb[x]);
        for (std::size_t c = 0; c < 3; ++c) {
          ++histogram[bin_of(s + tone.saturation * (source[c].row(y)[x] - s), target[c].row(y)[x])];
          ++samples;
        }
      }
    }
    tone.knots = fit_curve(histogram, samples);
  }
  return tone;
}

bool Tone::is_near_identity() const {
  if (saturation != 1) return false;
  for (std::size_t k = 0; k < knots.size(); ++k) {
    if (std::fabs(static_cast<double>(knots[k]) - static_cast<double>(k) * kStep) >= 1) return false;
  }
  return true;
}

}  // namespace millrace::detailed_check
