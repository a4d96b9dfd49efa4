#include <cmath>
#include <cstdlib>

#include "src/kernels/similarity/similarity_steps.h"

namespace millrace::similarity {
namespace {

void blur(const std::array<float, 1024>& from, std::array<float, 1024>& to) {
  constexpr int n = 32;
  std::array<float, 1024> across;
  for (int y = 0; y < n; ++y) {
    for (int x = 0; x < n; ++x) {
      const float* row = from.data() + y * n;
      const float left = row[x > 0 ? x - 1 : 0];
      const float right = row[x < n - 1 ? x + 1 : n - 1];
      across.data()[y * n + x] = 0.25F * (left + right) + 0.5F * row[x];
    }
  }
  for (int y = 0; y < n; ++y) {
    const float* upper = across.data() + (y > 0 ? y - 1 : 0) * n;
    const float* here = across.data() + y * n;
    const float* lower = across.data() + (y < n - 1 ? y + 1 : n - 1) * n;
    for (int x = 0; x < n; ++x) {
      to.data()[y * n + x] = 0.25F * (upper[x] + lower[x]) + 0.5F * here[x];
    }
  }
}

// Subtracts a raster's mean, so that sums of squares stay small beside the differences that they show; `turned` is the
// transpose.
void turn_about_mean(CoarseRaster& raster, CoarseRaster& turned) {
  constexpr int n = CoarseRaster::kSide;
  float* values = raster.row(0);
  float sum = 0;
  for (int i = 0; i < n * n; ++i) sum += values[i];
  const float mean = sum * (1.0F / (n * n));
  for (int i = 0; i < n * n; ++i) {
    values[i] -= mean;
    turned.row(i % n)[i / n] = values[i];
  }
}

// Counts the lines from one edge inwards that are of one colour, all the way. `step` leads along a line, `line` to the
// next one. Compression leaves about ten levels of noise.
int plain_lines(const std::uint8_t* edge, std::ptrdiff_t line, std::ptrdiff_t step) {
  // docs/design/similarity.md gives the reasons for the constants of this file.
  constexpr int kNoise = 14;
  for (int n = 0; n < kSide / 4; ++n) {
    for (int i = 0; i < kSide; ++i) {
      const std::uint8_t* p = edge + n * line + i * step;
      for (int c = 0; c < 3; ++c) {
        if (std::abs(static_cast<int>(p[c]) - static_cast<int>(edge[(kSide / 2) * step + c])) > kNoise) return n;
      }
    }
  }
  return kSide / 4;
}

// Returns left, top, right, bottom of the content, as shares of the side from its middle. A frame has two opposite
// sides of about one width; a single plain side is a design's background.
std::array<float, 4> content_of(const Thumbnail& pixels) {
  constexpr std::ptrdiff_t kPixel = 3, kRow = kSide * 3;
  constexpr int kUneven = 2;
  const std::uint8_t* first = pixels.data();
  const std::uint8_t* last = pixels.data() + kThumbnailBytes - kPixel;
  const auto pair = [&](std::ptrdiff_t line, std::ptrdiff_t step) {
    const int low = plain_lines(first, line, step), high = plain_lines(last, -line, -step);
    const bool frame = low > 0 && high > 0 && std::abs(low - high) <= kUneven;
    const auto share = [&](int lines) { return static_cast<float>(frame ? lines : 0) * (1.0F / kSide); };
    return std::array<float, 2>{share(low) - 0.5F, 0.5F - share(high)};
  };
  const auto across = pair(kPixel, kRow), down = pair(kRow, kPixel);
  return {across[0], down[0], across[1], down[1]};
}

}  // namespace

Features features_of(std::span<const std::uint8_t, kThumbnailBytes> pixels) {
  Features out;
  std::array<std::array<float, 4096>, 3> channel;
  std::array<std::uint64_t, 3> sum{}, squares{};
  for (std::size_t i = 0; i < 4096; ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      const std::uint8_t value = pixels[3 * i + c];
      out.pixels[3 * i + c] = value;
      channel[c][i] = static_cast<float>(value);
      sum[c] += value;
      squares[c] += static_cast<std::uint64_t>(value) * value;
    }
    out.luma[i] = 0.299F * channel[0][i] + 0.587F * channel[1][i] + 0.114F * channel[2][i];
  }
  out.solid = true;
  for (std::size_t c = 0; c < 3; ++c) {
    // n squares - sum^2 is an exact integer: at most 4096 * 4096 * 255^2, far inside 64 bits.
    const double spread = static_cast<double>(4096 * squares[c] - sum[c] * sum[c]);
    out.mean[c] = static_cast<float>(static_cast<double>(sum[c]) / 4096.0);
    out.deviation[c] = static_cast<float>(std::sqrt(spread) / 4096.0);
    out.solid = out.solid && out.deviation[c] < kSolidDeviation;
    std::array<float, 1024> half;
    halve<64>(channel[c].data(), half.data());
    blur(half, out.colour[c]);
  }
  out.content = content_of(out.pixels);
  std::array<float, 1024> half;
  halve<64>(out.luma.data(), half.data());
  halve<32>(half.data(), out.coarse.row(0));
  turn_about_mean(out.coarse, out.coarse_turned);
  blur(half, out.soft);
  float fine = 0;
  for (std::size_t i = 0; i < 1024; ++i) fine += (half[i] - out.soft[i]) * (half[i] - out.soft[i]);
  out.detail = std::sqrt(fine * (1.0F / 1024.0F));
  return out;
}

Thumbnail oriented(std::span<const std::uint8_t, kThumbnailBytes> pixels, Orientation o) {
  Thumbnail out;
  orient(pixels.data(), kSide, kSide, 3, o, out.data());
  return out;
}

const char* name_of(SimilarityKind kind) {
  switch (kind) {
    case SimilarityKind::same:
      return "same";
    case SimilarityKind::recoloured:
      return "recoloured";
    case SimilarityKind::different:
      break;
  }
  return "different";
}

}  // namespace millrace::similarity
