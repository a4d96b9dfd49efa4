#include "src/kernels/hash/hash.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "src/base/error.h"
#include "src/kernels/hash_quality/hash_quality.h"
#include "src/kernels/kernel_test.h"
#include "src/kernels/luma/luma.h"
#include "src/kernels/pdq/pdq.h"
#include "src/kernels/resize/resize.h"

namespace millrace {
namespace {

struct Shown {
  int width, height;
  std::vector<std::uint8_t> rgb, luma;
};

// A picture of slopes and noise, so that no bit depends on a tie.
Shown shown(int width, int height, unsigned seed) {
  Shown out{
      width, height, random_bytes(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3, seed), {}};
  for (std::size_t i = 0; i < out.rgb.size(); ++i) {
    const auto x = static_cast<int>(i / 3 % static_cast<std::size_t>(width)),
               y = static_cast<int>(i / 3 / static_cast<std::size_t>(width));
    out.rgb[i] = static_cast<std::uint8_t>(out.rgb[i] / 3 + 80 * x / width + 60 * std::abs(2 * y - height) / height);
  }
  out.luma.resize(out.rgb.size() / 3);
  luma_from_rgb_reference(out.rgb.data(), out.luma.data(), out.luma.size());
  return out;
}

std::vector<std::uint8_t> reduced(const Shown& p, int width, int height) {
  return resize_reference(p.luma.data(), p.width, p.width, p.height, width, height);
}

// Computes the kinds by their definitions: whole pictures, sums in doubles.
HashBits by_definition(HashKind kind, const Shown& p, int n) {
  HashBits bits;
  const auto each = [&](int rows, int columns, const auto& bit) {
    for (int y = 0; y < rows; ++y) {
      for (int x = 0; x < columns; ++x) bits.push_back(bit(y, x));
    }
  };
  if (kind == HashKind::ahash) {
    const auto small = reduced(p, n, n);
    double sum = 0;
    for (const int v : small) sum += v;
    each(n, n, [&](int y, int x) { return small[static_cast<std::size_t>(y * n + x)] > sum / (n * n); });
  } else if (kind == HashKind::dhash) {
    const auto small = reduced(p, n + 1, n);
    each(n, n, [&](int y, int x) {
      const auto at = static_cast<std::size_t>(y * (n + 1) + x);
      return small[at + 1] > small[at];
    });
  } else if (kind == HashKind::dhash_vertical) {
    const auto small = reduced(p, n, n + 1);
    each(n, n, [&](int y, int x) {
      return small[static_cast<std::size_t>((y + 1) * n + x)] > small[static_cast<std::size_t>(y * n + x)];
    });
  } else if (kind == HashKind::phash) {
    const int side = 4 * n;
    const auto small = reduced(p, side, side);
    std::vector<double> low;
    for (int v = 0; v < n; ++v) {
      for (int u = 0; u < n; ++u) {
        double sum = 0;
        for (int y = 0; y < side; ++y) {
          for (int x = 0; x < side; ++x) {
            sum += small[static_cast<std::size_t>(y * side + x)] * std::cos(M_PI * u * (2 * x + 1) / (2.0 * side)) *
                   std::cos(M_PI * v * (2 * y + 1) / (2.0 * side));
          }
        }
        low.push_back(sum);
      }
    }
    std::vector<double> sorted = low;
    std::sort(sorted.begin(), sorted.end());
    const double median = (sorted[sorted.size() / 2 - 1] + sorted[sorted.size() / 2]) / 2;
    for (const double value : low) bits.push_back(value > median);
  }
  return bits;
}

PictureHashes hashed(const Shown& p, const HashRequest& request, int step, bool colour) {
  PictureHasher hasher(request, p.width, p.height);
  const int channels = colour ? 3 : 1;
  const std::uint8_t* rows = colour ? p.rgb.data() : p.luma.data();
  const std::ptrdiff_t stride = static_cast<std::ptrdiff_t>(p.width) * channels;
  for (int y = 0; y < p.height; y += step) {
    hasher.push(rows + y * stride, stride, std::min(step, p.height - y), channels);
  }
  return hasher.finish();
}

TEST(Hash, KindsAsTheyAreDefinedForAnyRowsAtOnce) {
  const HashRequest request{{HashKind::ahash, HashKind::dhash, HashKind::dhash_vertical, HashKind::phash}, 8};
  at_every_cpu_level([&] {
    for (const auto& [width, height] : {std::pair(200, 150), std::pair(97, 301), std::pair(9, 640), std::pair(5, 4)}) {
      const Shown p = shown(width, height, static_cast<unsigned>(width));
      for (const int step : {1, 7, 16, height}) {
        for (const bool colour : {true, false}) {
          const PictureHashes got = hashed(p, request, step, colour);
          for (std::size_t k = 0; k < request.kinds.size(); ++k) {
            EXPECT_EQ(got.bits[k], by_definition(request.kinds[k], p, 8))
                << name_of(request.kinds[k]) << " " << width << " x " << height << ", " << step << " rows at once";
          }
          EXPECT_EQ(got.quality, gradient_quality(reduced(p, kQualitySide, kQualitySide).data()));
        }
      }
    }
  });
}

TEST(Hash, AKindIsTheSameWhateverElseIsAskedFor) {
  const Shown p = shown(300, 211, 5);
  for (const int size : {2, 8, 16}) {
    const HashRequest all{{kHashKinds.begin(), kHashKinds.end()}, size};
    const PictureHashes together = hashed(p, all, 16, true);
    for (std::size_t k = 0; k < all.kinds.size(); ++k) {
      EXPECT_EQ(hashed(p, {{all.kinds[k]}, size}, 16, true).bits[0], together.bits[k]) << name_of(all.kinds[k]);
    }
  }
}

TEST(Hash, PdqBringsItsOwnQuality) {
  const Shown p = shown(320, 240, 3);
  const PdqHash pdq = pdq_reference(p.rgb.data(), p.width, p.height, 3);
  const PictureHashes got = hashed(p, {{HashKind::dhash, HashKind::pdq}, 8}, 16, true);
  EXPECT_EQ(got.quality, pdq.quality);
  ASSERT_EQ(got.bits[1].size(), 256U);
  for (std::size_t i = 0; i < 256; ++i) EXPECT_EQ(got.bits[1][i], pdq.bytes[i / 8] >> (7 - i % 8) & 1) << i;
}

TEST(Hash, OnlyKindsThatNeedColorDiffer) {
  Shown p = shown(120, 90, 2);
  const HashRequest request{{kHashKinds.begin(), kHashKinds.end()}, 8};
  const PictureHashes colour = hashed(p, request, 16, true), gray = hashed(p, request, 16, false);
  for (std::size_t k = 0; k < request.kinds.size(); ++k) {
    if (!PictureHasher::needs_color({{request.kinds[k]}, 8})) {
      EXPECT_EQ(colour.bits[k], gray.bits[k]) << name_of(request.kinds[k]);
    }
  }
}

TEST(Hash, NamesGoBothWays) {
  for (const HashKind kind : kHashKinds) EXPECT_EQ(find_hash_kind(name_of(kind)), kind);
  EXPECT_EQ(find_hash_kind("md5"), std::nullopt);
}

TEST(Hash, TheFirstBitIsTheHighest) {
  HashBits bits(64, 0);
  bits[0] = 1;
  EXPECT_EQ(packed64(bits), std::uint64_t{1} << 63);
  bits[63] = 1;
  EXPECT_EQ(packed64(bits), (std::uint64_t{1} << 63) + 1);
}

TEST(Hash, WhatCannotBeHashedIsRefused) {
  EXPECT_THROW(check({{}, 8}), Failure);
  EXPECT_THROW(check({{HashKind::dhash}, 1}), Failure);
  EXPECT_THROW(check({{HashKind::dhash}, 65}), Failure);
  EXPECT_THROW(check({{HashKind::dhash, HashKind::whash}, 12}), Failure);
  EXPECT_NO_THROW(check({{HashKind::dhash}, 12}));
}

}  // namespace
}  // namespace millrace
