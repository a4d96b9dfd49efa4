#include <algorithm>
#include <cmath>

#include "src/kernels/similarity/similarity_steps.h"

namespace millrace::similarity {
namespace {

// docs/design/similarity.md gives the reasons for the constants of this file.
constexpr int kTile = 9, kTiles = 7;
constexpr float kNoise = 6.0F;  // variance of luma that compression leaves in a tile
// Ratio of variances, noise included, from which a tile of one picture shows an overlay that the other has not. Ratios
// of 4 and 16 judge every easy version as 8 does.
constexpr float kOverlay = 8.0F;
constexpr float kFloorSlope = 49.0F * 49.0F;  // sum of squared slopes of noise: keeps flat pictures still

struct Tile {
  float weight = 0, similarity = 0, moved = 0, slope = 0;
  int overlaid = 0;     // 1 or 2: that picture shows something here that the other does not
  bool corner = false;  // has slopes in two directions, so that a place can be recognised
};

Tile compare_tile(const float* a, const float* b, const float* inside) {
  float n = 0, sa = 0, sb = 0, saa = 0, sbb = 0, sab = 0;
  for (int y = 0; y < kTile; ++y) {
    for (int x = 0; x < kTile; ++x) {
      const int k = y * kSide + x;
      const float w = inside[k], va = a[k] - 128.0F, vb = b[k] - 128.0F;
      n += w;
      sa += w * va;
      sb += w * vb;
      saa += w * va * va;
      sbb += w * vb * vb;
      sab += w * va * vb;
    }
  }
  Tile tile;
  if (n < 0.6F * kTile * kTile) return tile;
  const float ma = sa / n, mb = sb / n;
  const float vaa = std::max(0.0F, saa / n - ma * ma), vbb = std::max(0.0F, sbb / n - mb * mb);
  const float cov = sab / n - ma * mb;
  tile.weight = std::sqrt(vaa + vbb);
  tile.similarity = (2 * cov + kNoise) / (vaa + vbb + kNoise);
  if (vaa > kOverlay * (vbb + kNoise)) tile.overlaid = 1;
  if (vbb > kOverlay * (vaa + kNoise)) tile.overlaid = 2;
  // Movement: one step of Lucas and Kanade inside the tile, on its residual after a gain of its own.
  const float gain = std::clamp(cov / (vbb + 1e-3F), 0.5F, 2.0F);
  float xx = 0, xy = 0, yy = 0, xe = 0, ye = 0, ee = 0;
  for (int y = 1; y < kTile - 1; ++y) {
    for (int x = 1; x < kTile - 1; ++x) {
      const int k = y * kSide + x;
      const float e = (a[k] - 128.0F - ma) - gain * (b[k] - 128.0F - mb);
      const float gx = 0.25F * ((a[k + 1] - a[k - 1]) + gain * (b[k + 1] - b[k - 1]));
      const float gy = 0.25F * ((a[k + kSide] - a[k - kSide]) + gain * (b[k + kSide] - b[k - kSide]));
      const float w = inside[k];
      xx += w * gx * gx;
      xy += w * gx * gy;
      yy += w * gy * gy;
      xe += w * gx * e;
      ye += w * gy * e;
      ee += w * e * e;
    }
  }
  // The ridge is the slope that noise has: without it, flat tiles would move arbitrarily.
  const float ridge = 49.0F * 2.0F;
  const float det = (xx + ridge) * (yy + ridge) - xy * xy;
  const float dx = ((yy + ridge) * xe - xy * ye) / det;
  const float dy = ((xx + ridge) * ye - xy * xe) / det;
  const float explained = dx * xe + dy * ye;
  tile.slope = xx + yy;
  // True if the smaller eigenvalue is at least about a thirtieth of the sum of both, by their product.
  tile.corner = xx * yy - xy * xy > 0.03F * tile.slope * tile.slope;
  // Movement of the content does not explain an overlay, and hardly explains noise: two of 49 degrees of freedom. The
  // rest has to be as small as a true fit leaves it.
  const float rest = ee - explained;
  if (explained > 0.4F * ee && rest < 0.1F * 49.0F * (vaa + kNoise)) tile.moved = explained;
  return tile;
}

using Tiles = std::array<Tile, kTiles * kTiles>;

// Insertion sort, ties by position: the same order on every machine, and fast for 49 tiles.
template <typename Before>
void sort_tiles(Tiles& tiles, Before before) {
  for (std::size_t i = 1; i < tiles.size(); ++i) {
    const Tile tile = tiles[i];
    std::size_t k = i;
    for (; k > 0 && before(tile, tiles[k - 1]); --k) tiles[k] = tiles[k - 1];
    tiles[k] = tile;
  }
}

// Returns the similarity of a's tile at (x, y) and b's at (x + dx, y + dy), both without their mean; -1 outside.
float similarity_at(const float* a, const float* b, const float* inside, int x, int y, int dx, int dy) {
  if (x + dx < 0 || y + dy < 0 || x + dx + kTile > kSide || y + dy + kTile > kSide) return -1;
  float sa = 0, sb = 0, saa = 0, sbb = 0, sab = 0, n = 0;
  for (int v = 0; v < kTile; ++v) {
    const float* ra = a + (y + v) * kSide + x;
    const float* rb = b + (y + dy + v) * kSide + x + dx;
    const float* in = inside + (y + dy + v) * kSide + x + dx;
    for (int u = 0; u < kTile; ++u) {
      const float va = ra[u] - 128.0F, vb = rb[u] - 128.0F;
      sa += va;
      sb += vb;
      saa += va * va;
      sbb += vb * vb;
      sab += va * vb;
      n += in[u];
    }
  }
  constexpr float kPoints = kTile * kTile;
  if (n < kPoints) return -1;
  const float ma = sa / kPoints, mb = sb / kPoints;
  const float cov = sab / kPoints - ma * mb;
  return 2 * cov / (saa / kPoints - ma * ma + (sbb / kPoints - mb * mb) + kNoise);
}

// Returns the mean similarity of tiles sorted best first, the worst quarter of the weight left out. Flat tiles come
// first and weigh nothing.
float mean_of_best(const Tiles& tiles, float weight) {
  float kept = 0, sum = 0;
  for (const Tile& tile : tiles) {
    const float part = std::max(0.0F, std::min(tile.weight, 0.75F * weight - kept));
    sum += part * tile.similarity;
    kept += part;
  }
  return kept > 0 ? sum / kept : 1.0F;
}

// On a soft or dark picture a watermark's tiles hold nearly all the weight, and the best three quarters show little of
// the picture itself. This mean limits tiles that only one picture shows, if at most a quarter of all, to the weight of
// an average tile. Returns 0 where there are no such tiles.
float mean_beside_overlay(Tiles tiles, int picture) {
  float rest = 0, weight = 0;
  int overlaid = 0, others = 0;
  for (const Tile& tile : tiles) {
    if (tile.overlaid == picture) {
      ++overlaid;
    } else if (tile.weight > 0) {
      rest += tile.weight;
      ++others;
    }
  }
  if (overlaid == 0 || overlaid > kTiles * kTiles / 4 || others == 0) return 0;
  const float average = rest / static_cast<float>(others);
  for (Tile& tile : tiles) {
    if (tile.overlaid == picture) tile.weight = std::min(tile.weight, average);
    weight += tile.weight;
  }
  return mean_of_best(tiles, weight);
}

}  // namespace

Structure compare_structure(const std::array<float, 4096>& a, const std::array<float, 4096>& b,
                            const std::array<float, 4096>& inside) {
  Tiles tiles;
  float weight = 0;
  for (int ty = 0; ty < kTiles; ++ty) {
    for (int tx = 0; tx < kTiles; ++tx) {
      const int k = ty * kTile * kSide + tx * kTile;
      Tile& tile = tiles[static_cast<std::size_t>(ty * kTiles + tx)];
      tile = compare_tile(a.data() + k, b.data() + k, inside.data() + k);
      weight += tile.weight;
    }
  }
  Structure out;
  float moved = 0, slope = 0;
  for (const Tile& tile : tiles) {
    moved += tile.moved;
    slope += tile.slope;
  }
  out.movement = std::sqrt(2.0F * moved / (slope + kFloorSlope));
  sort_tiles(tiles, [](const Tile& l, const Tile& r) { return l.similarity > r.similarity; });
  out.structure = mean_of_best(tiles, weight);
  out.beside_overlay = std::max({out.structure, mean_beside_overlay(tiles, 1), mean_beside_overlay(tiles, 2)});

  // Robust correlation: residuals beyond two and a half times their mean size count less.
  Lanes n, size;
  for (std::size_t i = 0; i < 4096; i += 8) {
    for (std::size_t l = 0; l < 8; ++l) {
      size.lane[l] += inside[i + l] * std::fabs(a[i + l] - b[i + l]);
      n.lane[l] += inside[i + l];
    }
  }
  const float width = 2.5F * size.total() / (n.total() + 1e-3F) + 1.0F;
  const float narrow = 1.0F / (width * width);
  Lanes w, sa, sb, saa, sbb, sab;
  for (std::size_t i = 0; i < 4096; i += 8) {
    for (std::size_t l = 0; l < 8; ++l) {
      const float va = a[i + l] - 128.0F, vb = b[i + l] - 128.0F, e = va - vb;
      const float r = inside[i + l] / (1.0F + e * e * narrow);
      w.lane[l] += r;
      sa.lane[l] += r * va;
      sb.lane[l] += r * vb;
      saa.lane[l] += r * va * va;
      sbb.lane[l] += r * vb * vb;
      sab.lane[l] += r * va * vb;
    }
  }
  const float m = w.total() + 1e-3F;
  const float ma = sa.total() / m, mb = sb.total() / m;
  const float vaa = saa.total() / m - ma * ma + 4.0F, vbb = sbb.total() / m - mb * mb + 4.0F;
  out.correlation = (sab.total() / m - ma * mb + 4.0F) / std::sqrt(vaa * vbb);
  return out;
}

Movement find_movement(const std::array<float, 4096>& a, const std::array<float, 4096>& b,
                       const std::array<float, 4096>& inside) {
  constexpr int kReach = 5;
  constexpr float kFound = 0.92F, kLost = 0.85F, kGain = 0.12F;
  float moved = 0, slope = 0, elsewhere = 0, far_moved = 0;
  int found = 0;
  for (int ty = 0; ty < kTiles; ++ty) {
    for (int tx = 0; tx < kTiles; ++tx) {
      const int x = tx * kTile, y = ty * kTile, k = y * kSide + x;
      const Tile tile = compare_tile(a.data() + k, b.data() + k, inside.data() + k);
      slope += tile.slope;
      float energy = tile.moved;
      if (tile.corner && tile.weight > 0 && tile.similarity < kLost) {
        float best = std::max(kFound, tile.similarity + kGain);
        int distance = 0;
        for (int dy = -kReach; dy <= kReach; ++dy) {
          for (int dx = -kReach; dx <= kReach; ++dx) {
            // The nearest of equally good places wins.
            const int d = dx * dx + dy * dy;
            if (d == 0) continue;
            const float s =
                similarity_at(a.data(), b.data(), inside.data(), x, y, dx, dy) - 0.002F * static_cast<float>(d);
            if (s > best) {
              best = s;
              distance = d;
            }
          }
        }
        if (distance > 0) {
          far_moved += 0.5F * tile.slope * static_cast<float>(distance) - energy;
          elsewhere += tile.slope;
          found += best > 0.95F ? 2 : 1;
        }
      }
      moved += energy;
    }
  }
  // A single tile may have found something similar by chance, beside a caption for example.
  if (found < 2) elsewhere = far_moved = 0;
  return {std::sqrt(2.0F * (moved + far_moved) / (slope + kFloorSlope)), elsewhere / (slope + kFloorSlope)};
}

}  // namespace millrace::similarity
