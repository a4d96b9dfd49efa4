#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "src/kernels/crops/crops.h"
#include "src/kernels/luma/luma.h"

namespace millrace::crops {
namespace {

// docs/design/crops.md gives the reasons for the constants of this file.
constexpr int kSide = 64, kFrequencies = 8, kCoefficients = kFrequencies * kFrequencies - 1;
static_assert(kSigns <= kCoefficients);
constexpr std::size_t kPixels = std::size_t{kSide} * kSide;

struct Interval {
  float from, to;
};

// Sizes of windows along a side, and the number of positions of each; the first size, of nine tenths, is also used in
// the middle. Steps are such that every crop is within a twenty-fifth of some window's edges.
struct Places {
  float size;
  int count;
};
constexpr std::array<Places, 5> kPlaces = {Places{0.91F, 2}, {0.82F, 4}, {0.73F, 5}, {0.63F, 6}, {0.57F, 6}};
constexpr int kMiddle = 1;  // index in kIntervals
constexpr int kIntervalCount = 2 + 2 + 4 + 5 + 6 + 6;

constexpr std::array<Interval, kIntervalCount> intervals() {
  std::array<Interval, kIntervalCount> out{};
  std::size_t n = 0;
  out[n++] = {0, 1};
  out[n++] = {0.045F, 0.955F};
  for (const Places& p : kPlaces) {
    for (int i = 0; i < p.count; ++i) {
      const float from = (1 - p.size) * static_cast<float>(i) / static_cast<float>(p.count - 1);
      out[n++] = {from, from + p.size};
    }
  }
  return out;
}
constexpr auto kIntervals = intervals();

struct Window {
  std::uint8_t x, y;  // indices in kIntervals
};

// Windows with both sides cropped alike, down to three quarters. Then windows with one side cropped, down to what makes
// a square of a wide picture.
constexpr std::array<Window, kWindows> windows() {
  std::array<Window, kWindows> out{};
  std::size_t n = 0;
  const auto add = [&](std::size_t x, std::size_t y) {
    out[n++] = {static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y)};
  };
  add(kMiddle, kMiddle);
  std::size_t first = 2;
  for (const Places& p : kPlaces) {
    const std::size_t end = first + static_cast<std::size_t>(p.count);
    for (std::size_t x = first; p.size > 0.7F && x < end; ++x) {
      for (std::size_t y = first; y < end; ++y) add(x, y);
    }
    for (std::size_t i = first; i < end; ++i) {
      add(i, 0);
      add(0, i);
    }
    first = end;
  }
  return out;
}
constexpr auto kWindowTable = windows();
static_assert(kWindowTable.back().y == kIntervalCount - 1);

// Weights of each pixel of a side in the coefficients of an interval: the cosine's mean over the part of the pixel
// within the interval. They have 16 fractional bits over the interval's length.
using Weights = std::array<std::array<std::int16_t, kSide>, kFrequencies>;

Weights weights_of(Interval in) {
  Weights out{};
  const double from = static_cast<double>(in.from) * kSide, to = static_cast<double>(in.to) * kSide;
  for (int k = 0; k < kFrequencies; ++k) {
    for (int i = 0; i < kSide; ++i) {
      const double a = std::max<double>(i, from), b = std::min<double>(i + 1, to);
      if (a >= b) continue;
      const double turn = std::numbers::pi * k / (to - from);
      const double sum = k == 0 ? b - a : (std::sin(turn * (b - from)) - std::sin(turn * (a - from))) / turn;
      out[static_cast<std::size_t>(k)][static_cast<std::size_t>(i)] =
          static_cast<std::int16_t>(std::lround(65536 * sum / (to - from)));
    }
  }
  return out;
}

const std::array<Weights, kIntervalCount>& weights() {
  static const auto table = [] {
    auto made = std::make_unique<std::array<Weights, kIntervalCount>>();
    for (std::size_t i = 0; i < kIntervalCount; ++i) (*made)[i] = weights_of(kIntervals[i]);
    return made;
  }();
  return *table;
}

struct CropIndex {
  std::uint8_t u, v;  // frequencies along x and along y
};

// Order of the coefficients, the lowest first: by the sum of both frequencies, then by the greater, then by the one
// along x.
constexpr std::array<CropIndex, kCoefficients> coefficients() {
  std::array<CropIndex, kCoefficients> out{};
  std::size_t n = 0;
  for (int sum = 1; sum <= 2 * (kFrequencies - 1); ++sum) {
    for (int greater = (sum + 1) / 2; greater <= std::min(sum, kFrequencies - 1); ++greater) {
      const auto g = static_cast<std::uint8_t>(greater), less = static_cast<std::uint8_t>(sum - greater);
      out[n++] = {less, g};
      if (g != less) out[n++] = {g, less};
    }
  }
  return out;
}
constexpr auto kOrder = coefficients();

// Scale of a spectrum, which holds means of products: kLevel is one level.
constexpr int kLevel = 32;
using Spectrum = std::array<std::array<std::int32_t, kFrequencies>, kFrequencies>;  // [v][u]

std::int32_t dot(const std::int16_t* a, const std::int16_t* b) {
  std::int32_t sum = 0;
  for (int i = 0; i < kSide; ++i) sum += static_cast<std::int32_t>(a[i]) * b[i];
  return sum;
}

// Coefficients along x of every row.
using Across = std::array<std::array<std::int16_t, kSide>, kFrequencies>;  // [u][y]

Across across(const std::array<std::int16_t, kPixels>& luma, const Weights& along) {
  constexpr int kBits = 11;
  Across out;
  for (std::size_t u = 0; u < kFrequencies; ++u) {
    for (std::size_t y = 0; y < kSide; ++y)
      out[u][y] =
          static_cast<std::int16_t>((dot(luma.data() + y * kSide, along[u].data()) + (1 << (kBits - 1))) >> kBits);
  }
  return out;
}

Spectrum spectrum_of(const Across& rows, const Weights& along) {
  Spectrum out;
  for (std::size_t v = 0; v < kFrequencies; ++v) {
    for (std::size_t u = 0; u < kFrequencies; ++u) out[v][u] = (dot(rows[u].data(), along[v].data()) + (1 << 15)) >> 16;
  }
  return out;
}

CropCode signs_of(const Spectrum& s) {
  CropCode out = 0;
  for (std::size_t i = 0; i < kSigns; ++i) out |= static_cast<CropCode>(s[kOrder[i].v][kOrder[i].u] > 0) << i;
  return out;
}

// True if the mean size of the key's coefficients is below a quarter of a level: a plain surface.
bool is_plain(const Spectrum& s) {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < kKeyBits; ++i) sum += std::abs(s[kOrder[i].v][kOrder[i].u]);
  return sum < kKeyBits * kLevel / 4;
}

std::uint16_t doubtful_of(const Spectrum& s) {
  std::array<std::pair<std::int64_t, std::size_t>, kKeyBits> weak;
  for (std::size_t i = 0; i < kKeyBits; ++i) {
    const std::int64_t c = s[kOrder[i].v][kOrder[i].u];
    weak[i] = {c * c * (kOrder[i].u * kOrder[i].u + kOrder[i].v * kOrder[i].v), i};
  }
  std::sort(weak.begin(), weak.end());
  unsigned out = 0;
  for (std::size_t i = 0; i < kDoubtful; ++i) out |= 1U << weak[i].second;
  return static_cast<std::uint16_t>(out);
}

// Returns the spectrum of the rotated or mirrored picture. A mirror changes the signs of odd waves; a quarter turn
// exchanges the axes, too.
Spectrum turned(const Spectrum& s, Orientation o) {
  // True where x or y of the result runs backwards along the original's axis that it comes from.
  const bool back_x = o == Orientation::mirrored || o == Orientation::rotated_180 || o == Orientation::rotated_90 ||
                      o == Orientation::transversed;
  const bool back_y = o == Orientation::rotated_180 || o == Orientation::flipped || o == Orientation::transversed ||
                      o == Orientation::rotated_270;
  Spectrum out;
  for (std::size_t v = 0; v < kFrequencies; ++v) {
    for (std::size_t u = 0; u < kFrequencies; ++u) {
      const std::int32_t c = swaps_sides(o) ? s[u][v] : s[v][u];
      out[v][u] = (back_x && u % 2 == 1) != (back_y && v % 2 == 1) ? -c : c;
    }
  }
  return out;
}

// Sums of the two chromas over whole pixels, from the top left corner.
struct ChromaSums {
  static constexpr std::size_t kEdge = kSide + 1;
  std::array<std::int32_t, kEdge * kEdge> blue{}, red{};

  ChromaSums(const std::uint8_t* rgb, const std::array<std::int16_t, kPixels>& luma) {
    for (std::size_t y = 0; y < kSide; ++y) {
      std::int32_t b = 0, r = 0;
      for (std::size_t x = 0; x < kSide; ++x) {
        const std::size_t at = y * kSide + x, to = (y + 1) * kEdge + x + 1;
        b += rgb[3 * at + 2] - luma[at];
        r += rgb[3 * at] - luma[at];
        blue[to] = blue[to - kEdge] + b;
        red[to] = red[to - kEdge] + r;
      }
    }
  }
  // Returns the mean chromas of an area as bits of a code.
  CropCode mean(const CropArea& area) const {
    const auto edge = [](float share) { return static_cast<std::size_t>(std::lround(share * kSide)); };
    const std::size_t x0 = edge(area.left), y0 = edge(area.top), x1 = std::max(edge(area.right), x0 + 1),
                      y1 = std::max(edge(area.bottom), y0 + 1);
    const auto count = static_cast<std::int32_t>((x1 - x0) * (y1 - y0));
    const auto of = [&](const auto& sums) {
      const std::int32_t sum =
          sums[y1 * kEdge + x1] - sums[y0 * kEdge + x1] - sums[y1 * kEdge + x0] + sums[y0 * kEdge + x0];
      // Values stay below 255, so that no code is kSilent.
      return static_cast<CropCode>(std::clamp(sum / (2 * count), -126, 126) + 128);
    };
    return of(blue) << 48 | of(red) << 56;
  }
};

CropArea area_of(Window window) {
  const Interval x = kIntervals[window.x], y = kIntervals[window.y];
  return {x.from, y.from, x.to, y.to};
}

int log_sides(double width, double height) {
  return static_cast<int>(std::lround(std::clamp(16 * std::log2(width / height), -127.0, 127.0)));
}
int log_sides(const CropArea& area, double width, double height) {
  return log_sides(static_cast<double>(area.right - area.left) * width,
                   static_cast<double>(area.bottom - area.top) * height);
}

// True for a strip of more than two and a half to one, which nobody crops from a picture that is not one.
bool is_sliver(int whole, int part) { return std::abs(part) > 21 && std::abs(part) > std::abs(whole); }

// kOrientations[0], upright, is the whole itself.
Orientation orientation_of(std::size_t turned) { return kOrientations[turned + 1]; }

// Change of the proportion of the sides by each window.
const std::array<int, kWindows>& log_sides_of_windows() {
  static const auto table = [] {
    std::array<int, kWindows> out{};
    for (std::size_t i = 0; i < kWindows; ++i) out[i] = log_sides(area_of(kWindowTable[i]), 1, 1);
    return out;
  }();
  return table;
}

}  // namespace

CropView view_of(std::size_t part, std::span<const CropArea> boxes) {
  const auto [kind, index] = crop_index_of(part);
  switch (kind) {
    case CropKind::window:
      return {area_of(kWindowTable[index]), Orientation::upright};
    case CropKind::turned:
      return {{}, orientation_of(index)};
    case CropKind::box:
      break;
  }
  return {index < boxes.size() ? boxes[index] : CropArea{}, Orientation::upright};
}

int CropCodes::sides_of(std::size_t part) const {
  const auto [kind, index] = crop_index_of(part);
  switch (kind) {
    case CropKind::window:
      return sides + log_sides_of_windows()[index];
    case CropKind::turned:
      return swaps_sides(orientation_of(index)) ? -sides : sides;
    case CropKind::box:
      break;
  }
  return boxes[index];
}

bool can_match(const CropCodes& one, std::size_t part, const CropCodes& other) {
  const CropCode code = one.parts[part];
  if (code == kSilent || other.whole == kSilent) return false;
  if (((code ^ other.whole) & kKey & ~CropCode{other.doubtful}) != 0 || !is_near(code, other.whole)) return false;
  return std::abs(one.sides_of(part) - other.sides) <= kMaxSides;
}

CropCodes codes_of(std::span<const std::uint8_t, std::size_t{64} * 64 * 3> squeezed, int width, int height,
                   std::span<const CropArea> boxes) {
  std::array<std::uint8_t, kPixels> gray;
  luma_from_rgb(squeezed.data(), gray.data(), gray.size());
  std::array<std::int16_t, kPixels> luma;
  std::copy(gray.begin(), gray.end(), luma.begin());
  const ChromaSums chroma(squeezed.data(), luma);
  std::array<Across, kIntervalCount> rows;
  for (std::size_t i = 0; i < kIntervalCount; ++i) rows[i] = across(luma, weights()[i]);
  CropCodes out;
  const auto code = [&](const Spectrum& s, const CropArea& area) {
    return is_plain(s) ? kSilent : signs_of(s) | chroma.mean(area);
  };
  const Spectrum whole = spectrum_of(rows[0], weights()[0]);
  out.whole = code(whole, {});
  out.doubtful = doubtful_of(whole);
  out.sides = static_cast<std::int8_t>(log_sides(width, height));
  for (std::size_t p = 0; p < kWindows; ++p) {
    const Window window = kWindowTable[p];
    if (is_sliver(out.sides, out.sides_of(p))) continue;
    out.parts[p] = code(spectrum_of(rows[window.x], weights()[window.y]), area_of(window));
  }
  for (std::size_t t = 0; t < kTurned; ++t)
    out.parts[crop_at({CropKind::turned, t})] = code(turned(whole, orientation_of(t)), {});
  for (std::size_t b = 0; b < std::min(boxes.size(), kBoxes); ++b) {
    const CropArea& box = boxes[b];
    out.boxes[b] = static_cast<std::int8_t>(log_sides(box, width, height));
    out.parts[crop_at({CropKind::box, b})] =
        code(spectrum_of(across(luma, weights_of({box.left, box.right})), weights_of({box.top, box.bottom})), box);
  }
  return out;
}

}  // namespace millrace::crops
