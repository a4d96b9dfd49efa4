#include "src/kernels/rle_deflate/rle_deflate.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <random>

#include "src/kernels/rle_deflate/deflate_test_vectors.h"
#include "src/kernels/rle_deflate/pixels_for_test.h"

namespace millrace::rle_deflate {
namespace {

// Returns pieces of foreground on a background; a higher density gives more of them.
rle::Image scribble(int width, int height, unsigned seed, double density) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> share(0, 1);
  rle::Image picture;
  picture.begin(width, height);
  for (int y = 0; y < height; ++y) {
    picture.begin_row();
    for (int x = 0; x < width;) {
      if (share(random) > density) {
        x += 1 + static_cast<int>(share(random) * 40);
        continue;
      }
      if (share(random) < 0.3) {
        const int count = std::min(width - x, 1 + static_cast<int>(share(random) * 600));
        picture.add_run(x, count, static_cast<std::uint8_t>(1 + random() % 255));
        x += count;
      } else {
        picture.add_literal(x++, static_cast<std::uint8_t>(1 + random() % 255));
      }
    }
  }
  picture.finish();
  return picture;
}

std::vector<std::uint8_t> pixels_of(const rle::Image& picture, const StreamLayout& layout) {
  const std::size_t row = static_cast<std::size_t>(picture.width()) * layout.pixels.bytes;
  const auto height = static_cast<std::size_t>(picture.height());
  std::vector<std::uint8_t> pixels(row * height), out;
  rle::paint(picture, layout.pixels, pixels.data());
  for (std::size_t y = 0; y < height; ++y) {
    if (layout.row_prefix) out.push_back(0);
    out.insert(out.end(), pixels.begin() + static_cast<std::ptrdiff_t>(y * row),
               pixels.begin() + static_cast<std::ptrdiff_t>((y + 1) * row));
  }
  return out;
}

void expect_inflates(const DeflateCode& code, const rle::Image& picture, const StreamLayout& layout) {
  Buffer<std::uint8_t> memory;
  const auto stream = code.compress(picture, memory);
  const std::vector<std::uint8_t> expected = pixels_of(picture, layout);
  std::vector<std::uint8_t> out(expected.size() + 1);
  z_stream z{};
  // zlib verifies the Adler-32, or the CRC-32 and the length.
  ASSERT_EQ(inflateInit2(&z, layout.wrapper == Wrapper::zlib ? 15 : 15 + 16), Z_OK);
  z.next_in = const_cast<std::uint8_t*>(stream.data());
  z.avail_in = static_cast<uInt>(stream.size());
  z.next_out = out.data();
  z.avail_out = static_cast<uInt>(out.size());
  const int result = inflate(&z, Z_FINISH);
  inflateEnd(&z);
  ASSERT_EQ(result, Z_STREAM_END) << (z.msg == nullptr ? "" : z.msg);
  ASSERT_EQ(z.avail_in, 0U);
  out.resize(z.total_out);
  ASSERT_EQ(out, expected);
}

TEST(RleDeflate, ZlibInflatesWhatIsPainted) {
  unsigned seed = 0;
  for (const double density : {0.0, 0.01, 0.2, 0.8, 1.0}) {
    for (const auto& [width, height] : {std::pair(1, 1), std::pair(3, 2), std::pair(259, 7), std::pair(800, 50)}) {
      for (const bool row_prefix : {false, true}) {
        for (const Wrapper wrapper : {Wrapper::zlib, Wrapper::gzip}) {
          for (const rle::EncodedLevels& pixels : all_pixels()) {
            const StreamLayout layout{pixels, row_prefix, wrapper};
            const rle::Image picture = scribble(width, height, ++seed, density);
            SymbolHistogram histogram;
            histogram.count(picture, layout);
            expect_inflates(DeflateCode(histogram, layout), picture, layout);
          }
        }
      }
    }
  }
}

// Rows of one to three levels, in adjacent pieces of all lengths: runs, literals, both in one, and gaps inside
// literals. The pixels alone must give the same stream.
TEST(RleDeflate, StreamsDependOnPixelsAlone) {
  std::mt19937 random(5);
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  for (int i = 0; i < 400; ++i) {
    const int width = 1 + below(200), height = 1 + below(4), longest = below(2) == 0 ? 6 : 40;
    rle::Image picture;
    picture.begin(width, height);
    for (int y = 0; y < height; ++y) {
      picture.begin_row();
      const auto level = [&] { return static_cast<std::uint8_t>(below(3) == 0 ? 1 + below(255) : 255); };
      for (int x = below(4) == 0 ? below(20) : 0; x < width; x += below(5) == 0 ? 1 + below(30) : 0) {
        const int literals = std::min(width - x, below(static_cast<unsigned>(longest))), begin = x;
        for (; x < begin + literals; ++x) {
          const bool inner = x > begin + 3 && x + 1 < begin + literals;
          picture.add_literal(x, inner && x % 7 < 3 && below(2) == 0 ? std::uint8_t{0} : level());
        }
        const int repeats = std::min(width - x, below(static_cast<unsigned>(longest)));
        if (repeats > 0 && below(2) == 0) {
          picture.add_run(x, repeats, level());
          x += repeats;
        }
      }
    }
    picture.finish();
    std::vector<std::uint8_t> plane(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    rle::GrayTable levels;
    for (std::size_t k = 0; k < levels.size(); ++k) levels[k] = static_cast<std::uint8_t>(k);
    rle::paint(picture, levels, plane.data());
    for (const rle::EncodedLevels& pixels : all_pixels()) {
      const StreamLayout layout{pixels, i % 2 == 0, i % 3 == 0 ? Wrapper::gzip : Wrapper::zlib};
      const DeflateCode code(SymbolHistogram(), layout);
      Buffer<std::uint8_t> drawn, of_pixels;
      const auto a = code.compress(picture, drawn);
      const auto b = code.compress(picture_of(plane.data(), width, height), of_pixels);
      ASSERT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end())) << i << ": " << pixels.bytes << " bytes a pixel";
      expect_inflates(code, picture, layout);
    }
  }
}

TEST(RleDeflate, ACodeFitsPicturesThatItWasNotMadeFor) {
  SymbolHistogram blank;
  blank.count(scribble(800, 500, 1, 0), {});
  const DeflateCode code(blank, {});
  for (unsigned seed = 0; seed < 20; ++seed) expect_inflates(code, scribble(300, 200, seed, 0.9), {});
  const DeflateCode empty(SymbolHistogram(), {});
  expect_inflates(empty, scribble(300, 200, 5, 0.5), {});
  StreamLayout dark;
  dark.pixels = rle::encoded_levels(rle::gray_table(0, 255));
  expect_inflates(DeflateCode(SymbolHistogram(), dark), scribble(300, 200, 6, 0.5), dark);
}

// A run and a row of very many bytes must not overflow the closed forms.
TEST(RleDeflate, LargePictures) {
  for (const auto& [level, wrapper] :
       {std::pair(std::uint8_t{255}, Wrapper::zlib), std::pair(std::uint8_t{0}, Wrapper::zlib),
        std::pair(std::uint8_t{0}, Wrapper::gzip)}) {
    rle::Image picture;
    picture.begin(16384, 4000);
    for (int y = 0; y < 4000; ++y) {
      picture.begin_row();
      if (level > 0) picture.add_run(0, 16384, level);
    }
    picture.finish();
    const StreamLayout layout{
        rle::encoded_levels(rle::colour_table({255, 255, 255}, {254, 254, 254}), 3, rle::SampleDepth::bytes), false,
        wrapper};
    SymbolHistogram histogram;
    histogram.count(picture, layout);
    expect_inflates(DeflateCode(histogram, layout), picture, layout);
  }
}

TEST(RleDeflate, CodeLengthsAreTheCheapestThatFit) {
  // Optimal lengths computed by hand: first without an effective limit, as Huffman's, then with a limit of 2.
  EXPECT_EQ(code_lengths(std::vector<std::uint32_t>{1, 1, 2, 4}, 15), (std::vector<std::uint8_t>{3, 3, 2, 1}));
  EXPECT_EQ(code_lengths(std::vector<std::uint32_t>{1, 1, 2, 4}, 2), (std::vector<std::uint8_t>{2, 2, 2, 2}));
  EXPECT_EQ(code_lengths(std::vector<std::uint32_t>{0, 5, 0}, 15), (std::vector<std::uint8_t>{0, 1, 0}));
  // Counts that grow like Fibonacci numbers need codes as long as the number of symbols.
  std::vector<std::uint32_t> counts = {1, 1};
  while (counts.size() < 30) counts.push_back(counts[counts.size() - 1] + counts[counts.size() - 2]);
  const auto lengths = code_lengths(counts, 15);
  double used = 0;
  for (const std::uint8_t length : lengths) {
    EXPECT_GE(length, 1);
    EXPECT_LE(length, 15);
    used += std::pow(0.5, length);
  }
  EXPECT_EQ(used, 1.0);
}

}  // namespace
}  // namespace millrace::rle_deflate
