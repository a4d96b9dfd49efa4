#include "src/kernels/fundus/enhance.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "src/kernels/elementary.h"

namespace millrace::fundus {
namespace {

constexpr double kMargin = 0.01, kDeviation = 0.05;  // of the radius
constexpr double kContrast = 4;

// The field of view, smaller by the margin.
Bounds inner(const Bounds& bounds) {
  Bounds out = bounds;
  const double margin = kMargin * bounds.radius;
  out.radius -= margin;
  for (Line& line : out.lines) line.offset += margin;
  return out;
}

double outside_of(const Line& line, const Point& p) {
  return line.offset - (line.normal.x * p.x + line.normal.y * p.y);
}

bool is_inside(const Bounds& bounds, const Point& p) {
  const double x = p.x - bounds.center.x, y = p.y - bounds.center.y;
  return x * x + y * y <= bounds.radius * bounds.radius &&
         std::all_of(bounds.lines.begin(), bounds.lines.end(),
                     [&](const Line& line) { return outside_of(line, p) <= 0; });
}

// About the circle first, then about each line.
Point mirrored(const Bounds& bounds, Point p) {
  const double x = p.x - bounds.center.x, y = p.y - bounds.center.y, distance = std::sqrt(x * x + y * y);
  if (distance > bounds.radius) {
    const double share = std::max(2 * bounds.radius - distance, 0.0) / distance;
    p = {bounds.center.x + x * share, bounds.center.y + y * share};
  }
  for (const Line& line : bounds.lines) {
    const double far = outside_of(line, p);
    if (far > 0) p = {p.x + 2 * far * line.normal.x, p.y + 2 * far * line.normal.y};
  }
  return p;
}

using Rgb = std::array<float, 3>;

Rgb sample(const std::uint8_t* pixels, std::int32_t side, const Point& p) {
  const auto within = [side](double value) { return std::clamp(value, 0.0, static_cast<double>(side - 1)); };
  const double x = within(p.x), y = within(p.y);
  const auto left = static_cast<std::int32_t>(x), top = static_cast<std::int32_t>(y);
  const auto wx = static_cast<float>(x - left), wy = static_cast<float>(y - top);
  const std::int32_t right = std::min(left + 1, side - 1), bottom = std::min(top + 1, side - 1);
  const auto at = [&](std::int32_t column, std::int32_t row) {
    return pixels +
           (static_cast<std::size_t>(row) * static_cast<std::size_t>(side) + static_cast<std::size_t>(column)) * 3;
  };
  const std::uint8_t *a = at(left, top), *b = at(right, top), *d = at(left, bottom), *e = at(right, bottom);
  Rgb out{};
  for (std::size_t c = 0; c < 3; ++c) {
    const float above = static_cast<float>(a[c]) + (static_cast<float>(b[c]) - static_cast<float>(a[c])) * wx;
    const float below = static_cast<float>(d[c]) + (static_cast<float>(e[c]) - static_cast<float>(d[c])) * wx;
    out[c] = above + (below - above) * wy;
  }
  return out;
}

// A plane of three numbers a pixel, as wide as it is high.
struct Image {
  std::size_t side = 0;
  std::vector<float> values;
  float* row(std::size_t y) { return values.data() + y * side * 3; }
};

// Means of blocks of so many pixels a side: of the field of view, and of its mirror image around it. A Gaussian does
// not see what is that much smaller than it.
Image reduced(const std::uint8_t* pixels, std::int32_t side, const Bounds& bounds, std::int32_t factor) {
  Image out;
  out.side = static_cast<std::size_t>((side + factor - 1) / factor);
  out.values.assign(out.side * out.side * 3, 0);
  std::vector<float> counts(out.side * out.side);
  const double sure = bounds.radius * bounds.radius;
  for (std::int32_t y = 0; y < side; ++y) {
    for (std::int32_t x = 0; x < side; ++x) {
      const Point p{static_cast<double>(x), static_cast<double>(y)};
      const double dx = p.x - bounds.center.x, dy = p.y - bounds.center.y;
      const bool inside = dx * dx + dy * dy <= sure && (bounds.lines.empty() || is_inside(bounds, p));
      const std::size_t at = static_cast<std::size_t>(y / factor) * out.side + static_cast<std::size_t>(x / factor);
      counts[at] += 1;
      float* to = out.values.data() + at * 3;
      if (inside) {
        const std::uint8_t* from =
            pixels + (static_cast<std::size_t>(y) * static_cast<std::size_t>(side) + static_cast<std::size_t>(x)) * 3;
        for (std::size_t c = 0; c < 3; ++c) to[c] += from[c];
      } else {
        const Rgb mirror = sample(pixels, side, mirrored(bounds, p));
        for (std::size_t c = 0; c < 3; ++c) to[c] += mirror[c];
      }
    }
  }
  for (std::size_t k = 0; k < counts.size(); ++k)
    for (std::size_t c = 0; c < 3; ++c) out.values[3 * k + c] /= counts[k];
  return out;
}

// Up to four deviations away; at the sides the picture is mirrored.
void blur(Image& image, double deviation) {
  const auto reach = static_cast<std::ptrdiff_t>(std::ceil(4 * deviation));
  std::vector<float> weights(static_cast<std::size_t>(reach) + 1);
  double sum = 0;
  for (std::ptrdiff_t k = -reach; k <= reach; ++k)
    sum += exponential(-static_cast<double>(k * k) / (2 * deviation * deviation));
  for (std::size_t k = 0; k < weights.size(); ++k)
    weights[k] = static_cast<float>(exponential(-static_cast<double>(k * k) / (2 * deviation * deviation)) / sum);
  const auto side = static_cast<std::ptrdiff_t>(image.side);
  const auto mirror = [side](std::ptrdiff_t at) {
    while (side > 1 && (at < 0 || at >= side)) at = at < 0 ? -at : 2 * (side - 1) - at;
    return side > 1 ? at : 0;
  };
  std::vector<float> out(image.values.size());
  // Along columns, a row at once; then the same of the picture turned over its diagonal.
  for (int pass = 0; pass < 2; ++pass) {
    const std::size_t row = image.side * 3;
    for (std::ptrdiff_t y = 0; y < side; ++y) {
      float* to = out.data() + static_cast<std::size_t>(y) * row;
      const float* middle = image.row(static_cast<std::size_t>(y));
      for (std::size_t i = 0; i < row; ++i) to[i] = weights[0] * middle[i];
      for (std::ptrdiff_t k = 1; k <= reach; ++k) {
        const float* above = image.row(static_cast<std::size_t>(mirror(y - k)));
        const float* below = image.row(static_cast<std::size_t>(mirror(y + k)));
        const float weight = weights[static_cast<std::size_t>(k)];
        for (std::size_t i = 0; i < row; ++i) to[i] += weight * (above[i] + below[i]);
      }
    }
    for (std::size_t y = 0; y < image.side; ++y)
      for (std::size_t x = 0; x < image.side; ++x)
        for (std::size_t c = 0; c < 3; ++c)
          image.values[(x * image.side + y) * 3 + c] = out[(y * image.side + x) * 3 + c];
  }
}

// Between the middles of blocks.
struct Tap {
  std::size_t first = 0, second = 0;
  float weight = 0;
};
std::vector<Tap> taps(std::int32_t side, std::int32_t factor, std::size_t reduced_side) {
  std::vector<Tap> out(static_cast<std::size_t>(side));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double at =
        std::clamp((static_cast<double>(i) + 0.5) / factor - 0.5, 0.0, static_cast<double>(reduced_side - 1));
    const auto first = static_cast<std::size_t>(at);
    out[i] = {first, std::min(first + 1, reduced_side - 1), static_cast<float>(at - static_cast<double>(first))};
  }
  return out;
}

}  // namespace

std::vector<std::uint8_t> enhance(const std::uint8_t* pixels, std::int32_t side, const Bounds& bounds) {
  const Bounds field = inner(bounds);
  const double deviation = kDeviation * bounds.radius;
  constexpr double kFine = 6;  // deviations in reduced pixels: below a tenth of a level off
  std::int32_t factor = 1;
  while (deviation / (2 * factor) >= kFine) factor *= 2;
  Image surround = reduced(pixels, side, field, factor);
  // A block's mean is a blur as well.
  const double box = (static_cast<double>(factor) * factor - 1) / 12;
  blur(surround, std::sqrt(std::max(deviation * deviation - box, 0.01)) / factor);
  const std::vector<Tap> at = taps(side, factor, surround.side);
  const auto width = static_cast<std::size_t>(side);
  std::vector<std::uint8_t> out(width * width * 3);
  std::vector<float> line(surround.side * 3);
  for (std::size_t y = 0; y < width; ++y) {
    const float *above = surround.row(at[y].first), *below = surround.row(at[y].second);
    for (std::size_t i = 0; i < line.size(); ++i) line[i] = above[i] + (below[i] - above[i]) * at[y].weight;
    for (std::size_t x = 0; x < width; ++x) {
      if (!is_inside(field, {static_cast<double>(x), static_cast<double>(y)})) continue;
      const float *left = line.data() + 3 * at[x].first, *right = line.data() + 3 * at[x].second;
      const std::size_t k = (y * width + x) * 3;
      for (std::size_t c = 0; c < 3; ++c) {
        const float around = left[c] + (right[c] - left[c]) * at[x].weight;
        const float value = static_cast<float>(kContrast) * (static_cast<float>(pixels[k + c]) - around) + 127.5F;
        out[k + c] = static_cast<std::uint8_t>(std::clamp(value, 0.0F, 255.0F));
      }
    }
  }
  return out;
}

Quality quality_of(const std::uint8_t* pixels, std::int32_t side, const Bounds& bounds) {
  const Bounds field = inner(bounds);
  Quality out;
  double count = 0, bright = 0, saturated = 0, fine = 0, coarse = 0, of_circle = 0;
  const auto width = static_cast<std::size_t>(side);
  const std::int32_t far = std::max(side / 64, 2);
  const auto green = [&](std::int32_t x, std::int32_t y) {
    return static_cast<double>(pixels[(static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x)) * 3 + 1]);
  };
  for (std::int32_t y = 0; y < side; ++y) {
    for (std::int32_t x = 0; x < side; ++x) {
      const Point p{static_cast<double>(x), static_cast<double>(y)};
      const double dx = p.x - field.center.x, dy = p.y - field.center.y;
      if (dx * dx + dy * dy > field.radius * field.radius) continue;
      of_circle += 1;
      if (!is_inside(field, p)) continue;
      count += 1;
      const std::uint8_t* at = pixels + (static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x)) * 3;
      bright += std::max({at[0], at[1], at[2]});
      saturated += at[0] == 255 || at[1] == 255 || at[2] == 255 ? 1 : 0;
      if (x + far >= side || y + far >= side || !is_inside(field, {p.x + far, p.y + far})) continue;
      fine += std::abs(green(x + 1, y) - green(x, y)) + std::abs(green(x, y + 1) - green(x, y));
      coarse += std::abs(green(x + far, y) - green(x, y)) + std::abs(green(x, y + far) - green(x, y));
    }
  }
  if (count == 0) return out;
  out.brightness = bright / count / 255;
  out.saturated = saturated / count;
  out.sharpness = coarse > 0 ? fine / coarse : 0;
  // Of a circle that reaches out of the crop, or of the photograph, less is seen; lines say where that is cut off.
  out.visible = of_circle > 0 ? count / of_circle : 0;
  return out;
}

}  // namespace millrace::fundus
