#include "src/kernels/fundus/enhance.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "src/kernels/elementary.h"

namespace millrace::fundus {
namespace {

// docs/design/fundus.md gives the reasons for the constants of this file.
constexpr double kMargin = 0.01, kDeviation = 0.05;  // shares of the radius
constexpr double kContrast = 4;

// Returns the field of view, smaller by the margin.
FieldBounds inner(const FieldBounds& bounds) {
  FieldBounds out = bounds;
  const double margin = kMargin * bounds.radius;
  out.radius -= margin;
  for (BoundaryLine& line : out.lines) line.offset += margin;
  return out;
}

double outside_of(const BoundaryLine& line, const FundusPoint& p) {
  return line.offset - (line.normal.x * p.x + line.normal.y * p.y);
}

bool is_inside(const FieldBounds& bounds, const FundusPoint& p) {
  const double x = p.x - bounds.center.x, y = p.y - bounds.center.y;
  return x * x + y * y <= bounds.radius * bounds.radius &&
         std::all_of(bounds.lines.begin(), bounds.lines.end(),
                     [&](const BoundaryLine& line) { return outside_of(line, p) <= 0; });
}

// Box inside of all lines, columns from left to right and rows from top to bottom; right and bottom are exclusive.
struct Box {
  std::int64_t left = 0, top = 0, right = 0, bottom = 0;
};

// Returns the box on the inner side of both ends of each line's chord of the circle, and a margin further.
Box box_of(const FieldBounds& bounds, std::int64_t side) {
  const auto margin = static_cast<std::int64_t>(kMargin * bounds.radius);
  Box out{0, 0, side, side};
  for (const BoundaryLine& line : bounds.lines) {
    const double far = outside_of(line, bounds.center), square = bounds.radius * bounds.radius - far * far;
    if (square <= 0) continue;
    const FundusPoint foot{bounds.center.x + line.normal.x * far, bounds.center.y + line.normal.y * far};
    const double half = std::sqrt(square), x = std::abs(line.normal.y) * half, y = std::abs(line.normal.x) * half;
    if (line.normal.y > std::abs(line.normal.x)) {
      out.top = std::max(out.top, static_cast<std::int64_t>(std::ceil(foot.y + y)) + margin);
    } else if (-line.normal.y > std::abs(line.normal.x)) {
      out.bottom = std::min(out.bottom, static_cast<std::int64_t>(std::floor(foot.y - y)) - margin);
    } else if (line.normal.x > 0) {
      out.left = std::max(out.left, static_cast<std::int64_t>(std::ceil(foot.x + x)) + margin);
    } else {
      out.right = std::min(out.right, static_cast<std::int64_t>(std::floor(foot.x - x)) - margin);
    }
  }
  return out;
}

constexpr std::int32_t kReduced = 256;

// Reduced picture of red, green and blue, 0 to 255.
struct Surround {
  std::vector<float> values = std::vector<float>(std::size_t{kReduced} * kReduced * 3);
  float* row(std::int64_t y) { return values.data() + static_cast<std::size_t>(y) * kReduced * 3; }
};

// Samples the crop at equal steps. Pixels outside of the circle come from where its inversion maps them, pixels outside
// of lines from their mirror images.
Surround surround_of(const std::uint8_t* pixels, std::int32_t side, const FieldBounds& bounds) {
  const double factor = static_cast<double>(side) / kReduced;
  FieldBounds field = bounds;
  field.center = {bounds.center.x / factor, bounds.center.y / factor};
  field.radius = bounds.radius / factor;
  for (BoundaryLine& line : field.lines) line.offset /= factor;
  const Box box = box_of(field, kReduced);
  const double radius = (1 - kMargin) * field.radius, most = radius * radius;
  const auto of = [factor](std::int64_t at) {
    return static_cast<std::size_t>(static_cast<double>(std::clamp<std::int64_t>(at, 0, kReduced - 1)) * factor);
  };
  Surround out;
  for (std::int32_t v = 0; v < kReduced; ++v) {
    float* to = out.row(v);
    for (std::int32_t u = 0; u < kReduced; ++u) {
      double dx = u - field.center.x, dy = v - field.center.y;
      const double square = dx * dx + dy * dy;
      if (square >= most) {
        dx *= most / square;
        dy *= most / square;
      }
      std::int64_t x = std::lrint(field.center.x + dx), y = std::lrint(field.center.y + dy);
      if (x < box.left) x = 2 * box.left - 1 - x;
      if (x > box.right) x = 2 * box.right - x;
      if (y < box.top) y = 2 * box.top - 1 - y;
      if (y > box.bottom) y = 2 * box.bottom - y;
      const std::uint8_t* from = pixels + (of(y) * static_cast<std::size_t>(side) + of(x)) * 3;
      for (std::size_t c = 0; c < 3; ++c) *to++ = from[c];
    }
  }
  return out;
}

// Blurs along columns, then along rows; at the sides the picture is mirrored, its last pixels twice.
void blur(Surround& image, double deviation) {
  const auto reach = static_cast<std::int64_t>(4 * deviation + 0.5);
  std::vector<float> weights(static_cast<std::size_t>(reach) + 1);
  const auto weight_of = [deviation](std::int64_t k) {
    return exponential(-static_cast<double>(k * k) / (2 * deviation * deviation));
  };
  double sum = 0;
  for (std::int64_t k = -reach; k <= reach; ++k) sum += weight_of(k);
  for (std::size_t k = 0; k < weights.size(); ++k)
    weights[k] = static_cast<float>(weight_of(static_cast<std::int64_t>(k)) / sum);
  const auto mirror = [](std::int64_t at) {
    while (at < 0 || at >= kReduced) at = at < 0 ? -1 - at : 2 * kReduced - 1 - at;
    return at;
  };
  constexpr std::size_t kRow = std::size_t{kReduced} * 3;
  Surround over;
  for (std::int64_t y = 0; y < kReduced; ++y) {
    float* to = over.row(y);
    const float* middle = image.row(y);
    for (std::size_t i = 0; i < kRow; ++i) to[i] = weights[0] * middle[i];
    for (std::int64_t k = 1; k <= reach; ++k) {
      const float *above = image.row(mirror(y - k)), *below = image.row(mirror(y + k));
      const float weight = weights[static_cast<std::size_t>(k)];
      for (std::size_t i = 0; i < kRow; ++i) to[i] += weight * (above[i] + below[i]);
    }
  }
  const auto margin = static_cast<std::size_t>(reach);
  std::vector<float> line(kRow + 6 * margin);
  for (std::int64_t y = 0; y < kReduced; ++y) {
    const float* from = over.row(y);
    for (std::int64_t x = -reach; x < kReduced + reach; ++x)
      std::copy_n(from + 3 * mirror(x), 3, line.data() + 3 * static_cast<std::size_t>(x + reach));
    float* to = image.row(y);
    const float* middle = line.data() + 3 * margin;
    for (std::size_t i = 0; i < kRow; ++i) to[i] = weights[0] * middle[i];
    for (std::size_t k = 1; k <= margin; ++k)
      for (std::size_t i = 0; i < kRow; ++i) to[i] += weights[k] * (middle[i - 3 * k] + middle[i + 3 * k]);
  }
}

}  // namespace

namespace {

// Returns the contrast about the surround for the wanted pixels in [left, right) x [top, bottom); the others are black.
template <typename Wanted>
std::vector<std::uint8_t> contrast(const std::uint8_t* pixels, std::int32_t side, Surround& surround, const Box& box,
                                   const Wanted& wanted) {
  const double factor = static_cast<double>(side) / kReduced;
  struct Tap {
    std::size_t first = 0, second = 0;
    float weight = 0;
  };
  const auto width = static_cast<std::size_t>(side);
  std::vector<Tap> taps(width);
  for (std::size_t i = 0; i < width; ++i) {
    const double at = std::min(static_cast<double>(i) / factor, static_cast<double>(kReduced - 1));
    const auto first = static_cast<std::size_t>(at);
    taps[i] = {first, std::min<std::size_t>(first + 1, kReduced - 1),
               static_cast<float>(at - static_cast<double>(first))};
  }
  std::vector<std::uint8_t> out(width * width * 3);
  std::vector<float> line(std::size_t{kReduced} * 3);
  for (std::int64_t y = std::max<std::int64_t>(box.top, 0); y < std::min<std::int64_t>(box.bottom, side); ++y) {
    const Tap& row = taps[static_cast<std::size_t>(y)];
    const float *above = surround.row(static_cast<std::int64_t>(row.first)),
                *below = surround.row(static_cast<std::int64_t>(row.second));
    for (std::size_t i = 0; i < line.size(); ++i) line[i] = above[i] + (below[i] - above[i]) * row.weight;
    for (std::int64_t x = std::max<std::int64_t>(box.left, 0); x < std::min<std::int64_t>(box.right, side); ++x) {
      const std::size_t k = (static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x)) * 3;
      if (!wanted(x, y, pixels + k)) continue;
      const Tap& column = taps[static_cast<std::size_t>(x)];
      const float *left = line.data() + 3 * column.first, *right = line.data() + 3 * column.second;
      for (std::size_t c = 0; c < 3; ++c) {
        const float around = left[c] + (right[c] - left[c]) * column.weight;
        const float value = static_cast<float>(kContrast) * (static_cast<float>(pixels[k + c]) - around) + 127.5F;
        out[k + c] = static_cast<std::uint8_t>(std::clamp(value, 0.0F, 255.0F));
      }
    }
  }
  return out;
}

bool is_lit(const std::uint8_t* pixel) {
  constexpr int kDark = 10;
  return std::max({pixel[0], pixel[1], pixel[2]}) > kDark;
}

}  // namespace

std::vector<std::uint8_t> enhance(const std::uint8_t* pixels, std::int32_t side, const FieldBounds& bounds) {
  Surround surround = surround_of(pixels, side, bounds);
  blur(surround, kDeviation * bounds.radius / (static_cast<double>(side) / kReduced));
  const double radius = (1 - kMargin) * bounds.radius;
  return contrast(pixels, side, surround, box_of(bounds, side), [&](std::int64_t x, std::int64_t y, const auto*) {
    const double dx = static_cast<double>(x) - bounds.center.x, dy = static_cast<double>(y) - bounds.center.y;
    return dx * dx + dy * dy < radius * radius;
  });
}

std::vector<std::uint8_t> enhance_lit(const std::uint8_t* pixels, std::int32_t side) {
  const double factor = static_cast<double>(side) / kReduced;
  Surround surround;
  for (std::int32_t v = 0; v < kReduced; ++v) {
    float* to = surround.row(v);
    for (std::int32_t u = 0; u < kReduced; ++u, to += 3) {
      const auto x = static_cast<std::size_t>(u * factor), y = static_cast<std::size_t>(v * factor);
      const std::uint8_t* from = pixels + (y * static_cast<std::size_t>(side) + x) * 3;
      if (is_lit(from)) std::copy_n(from, 3, to);
    }
  }
  blur(surround, kDeviation * (kReduced / 2.0));
  return contrast(pixels, side, surround, {0, 0, side, side},
                  [](std::int64_t, std::int64_t, const std::uint8_t* pixel) { return is_lit(pixel); });
}

FundusQuality measure_quality(const std::uint8_t* pixels, std::int32_t side, const FieldBounds& bounds) {
  const FieldBounds field = inner(bounds);
  FundusQuality out;
  double count = 0, bright = 0, saturated = 0, fine = 0, coarse = 0, of_circle = 0;
  const auto width = static_cast<std::size_t>(side);
  const std::int32_t far = std::max(side / 64, 2);
  const auto green = [&](std::int32_t x, std::int32_t y) {
    return static_cast<double>(pixels[(static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x)) * 3 + 1]);
  };
  for (std::int32_t y = 0; y < side; ++y) {
    for (std::int32_t x = 0; x < side; ++x) {
      const FundusPoint p{static_cast<double>(x), static_cast<double>(y)};
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
  // A circle that reaches out of the crop, or of the photograph, is seen in part; lines say where it is cut off.
  out.visible = of_circle > 0 ? count / of_circle : 0;
  return out;
}

}  // namespace millrace::fundus
