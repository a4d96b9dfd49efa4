#include <fmt/format.h>

#include <algorithm>

#include "src/base/text.h"
#include "src/kernels/contours/contours.h"
#include "src/kernels/dct/dct.h"
#include "src/kernels/fundus/crop.h"
#include "src/kernels/fundus/enhance.h"
#include "src/kernels/haar/haar.h"
#include "src/kernels/hash/hash.h"
#include "src/kernels/hash_quality/hash_quality.h"
#include "src/kernels/luma/luma.h"
#include "src/kernels/masks/masks.h"
#include "src/kernels/masks/postprocess.h"
#include "src/kernels/orient/orient.h"
#include "src/kernels/pdq/pdq.h"
#include "src/kernels/resize/resize.h"
#include "src/kernels/sliding_window/sliding_window.h"
#include "src/kernels/test_vectors/test_vectors.h"
#include "src/kernels/ycc/ycc.h"

namespace millrace::test_vectors {
namespace {

constexpr int kWidth = TestInputs::kWidth, kHeight = TestInputs::kHeight;

std::string luma_answer(const TestInputs& inputs) {
  std::vector<std::uint8_t> luma(TestInputs::kPixels);
  luma_from_rgb(inputs.rgb.data(), luma.data(), TestInputs::kPixels);
  Digest digest;
  digest.add(luma);
  return digest.text();
}

template <int width, int height>
std::string resize_answer(const TestInputs& inputs) {
  Resizer resizer(kWidth, kHeight, width, height);
  // Portions are uneven, as a decoder gives them.
  for (int y = 0; y < kHeight; y += 37) {
    resizer.push(inputs.luma.data() + static_cast<std::size_t>(y) * kWidth, kWidth, std::min(37, kHeight - y));
  }
  Digest digest;
  digest.add({resizer.result(), static_cast<std::size_t>(width) * static_cast<std::size_t>(height)});
  return digest.text();
}

template <HashKind kind>
std::string hash_answer(const TestInputs& inputs) {
  PictureHasher hasher({{kind}, 8}, kWidth, kHeight);
  hasher.push(inputs.rgb.data(), std::ptrdiff_t{3} * kWidth, kHeight, 3);
  const PictureHashes hashes = hasher.finish();
  return fmt::format("{} {}", hex_of_bits(hashes.bits.at(0)), hashes.quality);
}

std::string pdq_answer(const TestInputs& inputs) {
  PdqHasher hasher(kWidth, kHeight);
  hasher.push(inputs.rgb.data(), std::ptrdiff_t{3} * kWidth, kHeight, 3);
  const PdqHash hash = hasher.finish();
  return fmt::format("{} {}", hex_of_bytes(hash.bytes), hash.quality);
}

std::string dct_answer(const TestInputs& inputs) {
  Digest digest;
  for (const double value : dct_low(inputs.luma.data(), 32, 8)) digest.add(value);
  return digest.text();
}

std::string haar_answer(const TestInputs& inputs) {
  Digest digest;
  digest.add(haar_bits(inputs.luma.data(), 256, 8));
  return digest.text();
}

// Enlarges a mask to the picture, and mixes the picture with its mirror image by it; in 8 bits and in 16.
std::string mask_answer(const TestInputs& inputs) {
  constexpr int kSide = 37;
  std::vector<std::uint16_t> mask(kSide * kSide), row(kWidth), deep(kWidth), turned(kWidth);
  Random random(5);
  for (std::uint16_t& value : mask) value = static_cast<std::uint16_t>(random.below(masks::kOne + 1));
  std::vector<std::uint8_t> back(kWidth);
  masks::Enlarger enlarger(kSide, kSide, kWidth, kHeight);
  enlarger.begin(mask.data());
  Digest digest;
  for (int y = 0; y < kHeight; ++y) {
    enlarger.row(y, row.data());
    const std::uint8_t* front = inputs.luma.data() + static_cast<std::size_t>(y) * kWidth;
    for (std::size_t x = 0; x < kWidth; ++x) {
      back[x] = front[kWidth - 1 - x];
      deep[x] = static_cast<std::uint16_t>(front[x] * 257);
      turned[x] = static_cast<std::uint16_t>(back[x] * 257);
    }
    masks::blend(back.data(), front, row.data(), back.data(), kWidth);
    masks::blend(turned.data(), deep.data(), row.data(), deep.data(), kWidth);
    digest.add(back);
    for (const std::uint16_t value : deep) digest.add(std::uint32_t{value});
  }
  return digest.text();
}

std::string cleaned_answer(const TestInputs& inputs) {
  std::vector<std::uint16_t> mask(TestInputs::kPixels);
  for (std::size_t i = 0; i < mask.size(); ++i)
    mask[i] = static_cast<std::uint16_t>(inputs.luma[mask.size() - 1 - i] * masks::kOne / 255);
  masks::PostprocessWorkspace workspace;
  masks::postprocess(mask.data(), kWidth, kHeight, masks::kOne / 2,
                     {.area = 60, .holes = 40, .open = 3, .close = 5, .feather = 2.5, .guide = 12},
                     {inputs.luma.data(), static_cast<std::size_t>(kWidth), 8}, workspace);
  Digest digest;
  for (const std::uint16_t value : mask) digest.add(std::uint32_t{value});
  return digest.text();
}

std::string quality_answer(const TestInputs& inputs) { return fmt::format("{}", gradient_quality(inputs.luma.data())); }

std::string orient_answer(const TestInputs& inputs) {
  Digest digest;
  for (const Orientation orientation : kOrientations)
    digest.add(oriented(inputs.rgb.data(), kWidth, kHeight, 3, orientation));
  return digest.text();
}

// Combines luma with chroma of a picture's bytes, where results clip and where they do not.
std::string ycc_answer(const TestInputs& inputs) {
  constexpr std::size_t kSamples = (kWidth + 1) / 2, kBefore = 1;
  Digest digest;
  for (std::size_t row = 0; row < 8; ++row) {
    const auto chroma = [&](std::size_t offset) {
      std::vector<std::uint8_t> out(kBefore + kSamples + kYccBeyond);
      for (std::size_t i = 0; i < kSamples; ++i) out[kBefore + i] = inputs.rgb[(row * 977 + i * 5 + offset) * 3];
      out[0] = out[kBefore];
      out[kBefore + kSamples] = out[kBefore + kSamples - 1];
      return out;
    };
    const auto cb = chroma(0), cr = chroma(31), far_cb = chroma(7), far_cr = chroma(53);
    std::vector<std::uint8_t> reach(cb.size()), far_reach(cb.size());
    chroma_reach(cb.data() + kBefore, cr.data() + kBefore, reach.data(), static_cast<int>(kSamples));
    chroma_reach(far_cb.data() + kBefore, far_cr.data() + kBefore, far_reach.data(), static_cast<int>(kSamples));
    std::vector<std::uint8_t> y(kWidth + kYccBeyond);
    std::copy_n(inputs.luma.begin() + static_cast<std::ptrdiff_t>(row * kWidth * 40), kWidth, y.begin());
    luma_from_ycc420(y.data(), {cb.data() + kBefore, cr.data() + kBefore, reach.data()},
                     {far_cb.data() + kBefore, far_cr.data() + kBefore, far_reach.data()}, kWidth);
    digest.add(std::span(y).first(kWidth));
  }
  return digest.text();
}

// Cuts the picture into windows, and blends each as if a network had made it, from how far its pixels are from gray.
std::string window_answer(const TestInputs& inputs) {
  const window::WindowAxis y(kHeight, 96, 0.5), x(kWidth, 120, 0.25);
  std::vector<const std::uint8_t*> rows;
  for (int r = 0; r < kHeight; ++r) rows.push_back(inputs.rgb.data() + static_cast<std::size_t>(r) * kWidth * 3);
  std::vector<window::LevelTable> levels(3);
  for (window::LevelTable& each : levels)
    for (std::size_t v = 0; v < 256; ++v) each.of[v] = (static_cast<float>(v) - 128) / 16;
  constexpr std::size_t kOrder[] = {2, 1, 0};
  window::WindowBlender blend(y, x, 3, window::Importance::gaussian);
  std::vector<float> one(3 * 96 * 120), row(3 * kWidth);
  Digest digest;
  std::int64_t next = 0;
  for (std::size_t k = 0; k < y.starts().size(); ++k) {
    for (std::size_t w = 0; w < x.starts().size(); ++w) {
      const std::size_t first = static_cast<std::size_t>(y.starts()[k]);
      window::gather_window(
          y, x, k, w, window::Padding::reflect,
          {rows.begin() + static_cast<std::ptrdiff_t>(first), rows.begin() + static_cast<std::ptrdiff_t>(first) + 96},
          y.starts()[k], 3, kOrder, levels, one.data());
      for (float& value : one) value *= 1 + static_cast<float>(w) / 8;
      blend.add(k, w, one.data());
    }
    for (; next < blend.complete_rows_before(k + 1); ++next) {
      blend.take_row(next, row.data());
      next % 2 == 0 ? window::sigmoid(row) : window::softmax(row, 3);
      for (const float value : row) digest.add(value);
    }
  }
  return digest.text();
}

// Outlines areas of four levels of brightness.
std::string contours_answer(const TestInputs& inputs) {
  ContourTracer::Labels outlined{};
  outlined[1] = outlined[2] = outlined[3] = true;
  Digest digest;
  ContourTracer contours(outlined, 20'000, [&](const Outline& outline) {
    digest.add(std::uint32_t{outline.label});
    for (const auto& ring : outline.rings) {
      digest.add(static_cast<std::uint32_t>(ring.size()));
      for (const Corner& corner : ring) digest.add(corner.y << 16 | corner.x);
    }
  });
  std::vector<std::uint8_t> labels(kWidth);
  std::vector<LabelRun> runs;
  for (std::size_t y = 0; y < kHeight; ++y) {
    for (std::size_t x = 0; x < kWidth; ++x) labels[x] = inputs.luma[y * kWidth + x] / 64;
    find_runs(labels, runs);
    contours.add_row(runs);
  }
  contours.finish();
  return digest.text();
}

// A disc of the picture in the dark, cut off at one side: its field of view, its crop and its contrast.
std::string fundus_answer(const TestInputs& inputs) {
  constexpr std::int32_t kSide = 128;
  std::vector<std::uint8_t> pixels(inputs.rgb.begin(), inputs.rgb.end());
  const double x = 0.47 * kWidth, y = 0.4 * kHeight, radius = 0.44 * kHeight;
  for (std::size_t k = 0; k < TestInputs::kPixels; ++k) {
    const std::size_t column = k % kWidth, row = k / kWidth;
    const double dx = static_cast<double>(column) - x, dy = static_cast<double>(row) - y;
    const bool lit = dx * dx + dy * dy <= radius * radius;
    for (std::size_t c = 0; c < 3; ++c)
      pixels[3 * k + c] = static_cast<std::uint8_t>(lit ? 96 + pixels[3 * k + c] / 4 : 3);
  }
  const fundus::Photograph photograph{pixels.data(), kWidth, kHeight};
  const auto bounds = fundus::find_field_bounds(photograph.red());
  if (!bounds) return "none";
  Digest digest;
  for (const double each : {bounds->center.x, bounds->center.y, bounds->radius, bounds->explained}) digest.add(each);
  for (const fundus::BoundaryLine& line : bounds->lines)
    for (const double each : {line.normal.x, line.normal.y, line.offset}) digest.add(each);
  const fundus::FundusCrop how = fundus::make_crop(*bounds, kSide);
  const std::vector<std::uint8_t> cropped = fundus::crop(photograph, how);
  digest.add(cropped);
  digest.add(fundus::enhance(cropped.data(), kSide, how.from_photograph(*bounds)));
  return digest.text();
}

// Luma, hashes and pdq are what Pillow 13.0.0, imagehash 4.3.2 and pdqhash 0.2.8 give for the same picture. The others
// are from the reference versions, or from the portable level.
constexpr KnownAnswer kPictureAnswers[] = {
    {"luma", "luma", "f2a5462ebf72a11f", luma_answer},
    {"masks", "enlarged, and two pictures mixed by it", "1398fcbc900e267e", mask_answer},
    {"masks", "cleaned, guided and feathered", "2edf0c29f4886b7f", cleaned_answer},
    {"ycc", "luma from YCbCr 4:2:0", "2ea25d9a02643012", ycc_answer},
    {"resize", "resize to 97 x 64", "f587141a019ff64b", resize_answer<97, 64>},
    {"resize", "resize to 9 x 8", "e8113e07fd49c9ee", resize_answer<9, 8>},
    {"resize", "resize to 700 x 8", "19cd91df3efe083b", resize_answer<700, 8>},
    {"orient", "all eight orientations", "5621addc30c2ee3d", orient_answer},
    {"dct", "dct", "86b4b0ffbcb2fd89", dct_answer},
    {"haar", "haar", "e60fc715ee61c445", haar_answer},
    {"hash_quality", "gradient quality", "57", quality_answer},
    {"hash", "ahash", "000707077c7ebf9f 100", hash_answer<HashKind::ahash>},
    {"hash", "dhash", "fd8d8dbde0dc7e7e 100", hash_answer<HashKind::dhash>},
    {"hash", "dhash_vertical", "efc7f8f8ac879f8f 100", hash_answer<HashKind::dhash_vertical>},
    {"hash", "phash", "96223f4b4d2c734d 100", hash_answer<HashKind::phash>},
    {"hash", "whash", "000707077c7e3f9f 100", hash_answer<HashKind::whash>},
    {"hash", "colorhash", "01048000201 100", hash_answer<HashKind::colorhash>},
    {"sliding_window", "windows cut, blended, activated", "7d69d96101cebb38", window_answer},
    {"fundus", "field of view, crop, contrast", "d7652807feb7403a", fundus_answer},
    {"contours", "outlines of four levels", "c2287164951b1d9f", contours_answer},
    {"pdq", "pdq", "f97db0240f669b22d8b549720bc6561cf8cb47d994c6721a345936c9157eeba2 100", pdq_answer},
};

}  // namespace

std::span<const KnownAnswer> picture_answers() { return kPictureAnswers; }

}  // namespace millrace::test_vectors
