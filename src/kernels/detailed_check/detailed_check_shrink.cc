#include <algorithm>
#include <cmath>

#include "src/kernels/detailed_check/detailed_check_pixel.h"
#include "src/kernels/detailed_check/detailed_check_steps.h"

namespace millrace::detailed_check {
namespace {

// Shares of source pixels that each target pixel covers, along a side.
struct Cover {
  std::vector<int> first, count;
  std::vector<float> weight;  // weights of each target pixel, one after the other

  Cover(int from, int to) : Cover(from, 0, static_cast<double>(from) / to, to) {}
  Cover(int from, double left, double each, int to) {
    for (int i = 0; i < to; ++i) {
      const double begin = std::max(0.0, left + i * each), end = std::min<double>(from, left + (i + 1) * each);
      const int low = std::min(from - 1, static_cast<int>(begin));
      int n = 0;
      for (int k = low; k < from && k < end; ++k, ++n) {
        const double part = std::min<double>(end, k + 1) - std::max<double>(begin, k);
        weight.push_back(static_cast<float>(std::max(0.0, part) / (end - begin)));
      }
      first.push_back(low);
      count.push_back(n);
    }
  }
};

}  // namespace

int shrink_side(int side, double scale) { return std::min(side, std::max(8, static_cast<int>(side * scale + 0.5))); }

void shrink(const Plane& from, double scale, Plane& to) {
  const int w = shrink_side(from.width(), scale), h = shrink_side(from.height(), scale);
  to.size(w, h);
  if (scale >= 1 || (w == from.width() && h == from.height())) {
    to.size(from.width(), from.height());
    for (int y = 0; y < from.height(); ++y) std::copy_n(from.row(y), from.width(), to.row(y));
    return;
  }
  const Cover across(from.width(), w), down(from.height(), h);
  std::vector<float> line(static_cast<std::size_t>(from.width()));
  const float* weight = down.weight.data();
  for (int y = 0; y < h; ++y) {
    const auto at = static_cast<std::size_t>(y);
    std::fill(line.begin(), line.end(), 0.0F);
    for (int k = 0; k < down.count[at]; ++k) {
      const float* row = from.row(down.first[at] + k);
      const float part = *weight++;
      for (std::size_t x = 0; x < line.size(); ++x) line[x] += part * row[x];
    }
    const float* share = across.weight.data();
    float* const out = to.row(y);
    for (int x = 0; x < w; ++x) {
      const auto i = static_cast<std::size_t>(x);
      const float* source = line.data() + across.first[i];
      float sum = 0;
      for (int k = 0; k < across.count[i]; ++k) sum += *share++ * source[k];
      out[x] = sum;
    }
  }
}

void shrink(const Colour& from, double scale, Colour& to) {
  for (std::size_t c = 0; c < 3; ++c) shrink(from[c], scale, to[c]);
}

Areas areas_of(const PixelBox& box, double scale) {
  Areas out = areas_of(box);
  const int w = shrink_side(out.width, scale), h = shrink_side(out.height, scale);
  out.across = static_cast<double>(out.width) / w;
  out.down = static_cast<double>(out.height) / h;
  out.width = w;
  out.height = h;
  return out;
}

void shrink(const PictureRaster& from, double scale, Colour& to) {
  sample(from, areas_of(PixelBox{0, 0, from.width, from.height}, scale), to);
}

// Rows are added up as interleaved bytes; across, the three values of a pixel are one vector.
void sample(const PictureRaster& from, const Areas& areas, Colour& to) {
  const int w = areas.width, h = areas.height;
  for (Plane& plane : to) plane.size(w, h);
  const std::size_t size = static_cast<std::size_t>(from.width) * 3;
  if (areas.across == 1 && areas.down == 1 && areas.left == std::floor(areas.left) &&
      areas.top == std::floor(areas.top)) {
    for (int y = 0; y < h; ++y) {
      const auto row = static_cast<std::size_t>(y + static_cast<int>(areas.top));
      split_bytes(from.rgb.data() + row * size + 3 * static_cast<std::size_t>(areas.left), w, to[0].row(y),
                  to[1].row(y), to[2].row(y));
    }
    return;
  }
  const Cover across(from.width, areas.left, areas.across, w), down(from.height, areas.top, areas.down, h);
  const auto first = static_cast<std::size_t>(across.first.front());
  const std::size_t used = static_cast<std::size_t>(across.first.back() + across.count.back()) - first;
  std::vector<float> line(3 * used + 1);
  const float* weight = down.weight.data();
  for (int y = 0; y < h; ++y) {
    const auto at = static_cast<std::size_t>(y);
    std::fill(line.begin(), line.end(), 0.0F);
    for (int k = 0; k < down.count[at]; ++k)
      add_bytes(from.rgb.data() + static_cast<std::size_t>(down.first[at] + k) * size + 3 * first, *weight++, 3 * used,
                line.data());
    const float* share = across.weight.data();
    float *r = to[0].row(y), *g = to[1].row(y), *b = to[2].row(y);
    for (int x = 0; x < w; ++x) {
      const auto i = static_cast<std::size_t>(x);
      const float* source = line.data() + 3 * (static_cast<std::size_t>(across.first[i]) - first);
      Pixel sum = {0, 0, 0, 0};
      for (int k = 0; k < across.count[i]; ++k, source += 3) sum += *share++ * pixel_at(source);
      r[x] = sum[0];
      g[x] = sum[1];
      b[x] = sum[2];
    }
  }
}

}  // namespace millrace::detailed_check
