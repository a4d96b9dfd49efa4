#include "src/kernels/test_vectors/inputs.h"

#include <fmt/format.h>

#include "src/kernels/luma/luma.h"

namespace millrace::test_vectors {
namespace {

template <typename Code>
std::vector<Code> make_codes(std::uint64_t seed) {
  Random random(seed);
  constexpr std::size_t kWords = sizeof(Code) / 8;
  std::vector<Code> codes;
  for (int cluster = 0; cluster < 40; ++cluster) {
    std::array<std::uint64_t, kWords> centre{};
    for (auto& word : centre) word = random.next64();
    for (int i = 0; i < 25; ++i) {
      auto words = centre;
      for (int flips = random.below(6); flips > 0; --flips) {
        const auto bit = static_cast<std::size_t>(random.below(static_cast<int>(64 * kWords)));
        words[bit / 64] ^= std::uint64_t{1} << (bit % 64);
      }
      codes.push_back(std::bit_cast<Code>(words));
    }
  }
  return codes;
}

}  // namespace

std::string Digest::text() const { return fmt::format("{:016x}", hash_); }

std::vector<std::uint8_t> make_picture(int width, int height, std::uint64_t seed) {
  Random random(seed);
  struct Rectangle {
    int left, top, right, bottom;
    std::array<int, 3> colour;
  };
  std::vector<Rectangle> rectangles;
  for (int i = 0; i < 14; ++i) {
    Rectangle r{};
    r.left = random.below(width);
    r.top = random.below(height);
    r.right = r.left + width / 12 + random.below(width / 3);
    r.bottom = r.top + height / 12 + random.below(height / 3);
    for (int& c : r.colour) c = random.below(256);
    rectangles.push_back(r);
  }
  std::vector<std::uint8_t> rgb;
  rgb.reserve(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      std::array<int, 3> colour = {x * 255 / width, y * 255 / height, (x + y) * 255 / (width + height)};
      for (const Rectangle& r : rectangles) {
        if (x >= r.left && x < r.right && y >= r.top && y < r.bottom) colour = r.colour;
      }
      for (const int c : colour) {
        const int v = c + random.below(9) - 4;
        rgb.push_back(static_cast<std::uint8_t>(v < 0 ? 0 : v > 255 ? 255 : v));
      }
    }
  }
  return rgb;
}

std::vector<stroke::StrokePoint> make_walk(int width, int height, std::size_t points, std::uint64_t seed) {
  Random random(seed);
  std::vector<stroke::StrokePoint> out;
  // Sixteenths of a pixel are exact.
  int y = height * 8;
  for (std::size_t i = 0; i < points; ++i) {
    y += random.below(161) - 80;
    if (y < 0 || y > height * 16) y = height * 8;
    out.push_back({static_cast<double>(i) * width / static_cast<double>(points), y / 16.0});
  }
  return out;
}

TestInputs::TestInputs()
    : rgb(make_picture(kWidth, kHeight, 1)),
      luma(kPixels),
      codes(make_codes<std::uint64_t>(2)),
      long_codes(make_codes<hamming::Code256>(3)),
      walk(make_walk(kChartWidth, kChartHeight, 90, 6)) {
  luma_from_rgb_reference(rgb.data(), luma.data(), kPixels);
}

}  // namespace millrace::test_vectors
