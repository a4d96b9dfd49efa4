#include <fmt/format.h>

#include <algorithm>

#include "src/kernels/crops/crops.h"
#include "src/kernels/detailed_check/detailed_check.h"
#include "src/kernels/similarity/similarity.h"
#include "src/kernels/test_vectors/test_vectors.h"

namespace millrace::test_vectors {
namespace {

std::string similarity_answer(const TestInputs&) {
  const std::vector<std::uint8_t> original = make_picture(similarity::kSide, similarity::kSide, 4);
  std::vector<std::uint8_t> brighter = original, turned = original;
  for (std::size_t i = 0; i < brighter.size(); ++i) {
    brighter[i] = static_cast<std::uint8_t>(std::min(255, original[i] * 9 / 8 + 6));
    turned[i] = original[i / 3 * 3 + (i + 1) % 3];
  }
  const auto features = [](const std::vector<std::uint8_t>& pixels) {
    return similarity::features_of(std::span<const std::uint8_t, similarity::kThumbnailBytes>(pixels));
  };
  const similarity::Features first = features(original);
  Digest digest;
  std::string kinds;
  for (const auto& other : {brighter, turned, make_picture(similarity::kSide, similarity::kSide, 5)}) {
    const similarity::Comparison v = similarity::compare(first, features(other));
    kinds += fmt::format("{} ", similarity::name_of(v.kind));
    for (const float f : {v.score, v.coarse, v.fit, v.overlap, v.structure, v.correlation, v.movement, v.moved_share,
                          v.chroma, v.tone, v.contrast}) {
      digest.add(f);
    }
  }
  return kinds + digest.text();
}

// Compares a picture with a copy with noise, a copy with something added, and another picture.
std::string detailed_check_answer(const TestInputs&) {
  constexpr int kWidth = 203, kHeight = 151;
  const auto prepared = [](std::vector<std::uint8_t> rgb) {
    return detailed_check::PreparedPicture({kWidth, kHeight, std::move(rgb), kWidth, kHeight});
  };
  const std::vector<std::uint8_t> original = make_picture(kWidth, kHeight, 7);
  std::vector<std::uint8_t> noisy = original, marked = original;
  Random random(8);
  for (std::uint8_t& v : noisy) v = static_cast<std::uint8_t>(std::clamp(v + random.below(5) - 2, 0, 255));
  for (int y = 60; y < 90; ++y) std::fill_n(marked.begin() + (y * kWidth + 80) * 3, 120, std::uint8_t{250});
  const auto first = prepared(original);
  detailed_check::DetailedComparator comparator;
  Digest digest;
  std::string kinds;
  for (const auto& other : {noisy, marked, make_picture(kWidth, kHeight, 9)}) {
    const detailed_check::Verdict v = comparator.compare(first, prepared(other));
    kinds += fmt::format("{} ", detailed_check::name_of(v.kind));
    for (const float f :
         {v.excess, v.plain, v.soft, v.chroma, v.shift, v.drift, v.spread, v.correlation, v.tone, v.gain, v.sharpness,
          v.scale, v.first_outside, v.second_outside, v.first_place[0], v.second_place[3]}) {
      digest.add(f);
    }
  }
  return kinds + digest.text();
}

// Finds a picture on a plain ground, computes codes of crops, and compares a crop with many wholes.
std::string crops_answer(const TestInputs&) {
  constexpr int kWidth = 200, kHeight = 150, kInner = 120;
  constexpr auto kSide = static_cast<std::size_t>(similarity::kSide);
  const std::vector<std::uint8_t> inner = make_picture(kInner, kInner, 10);
  std::vector<std::uint8_t> ground(std::size_t{3} * kWidth * kHeight, 240);
  for (std::size_t y = 0; y < kInner; ++y)
    std::copy_n(inner.begin() + static_cast<std::ptrdiff_t>(y * kInner * 3), kInner * 3,
                ground.begin() + static_cast<std::ptrdiff_t>(((y + 20) * kWidth + 40) * 3));
  const std::vector<crops::CropArea> boxes = crops::content_boxes(ground, kWidth, kHeight);
  Digest digest;
  for (const crops::CropArea& box : boxes) {
    for (const float side : {box.left, box.top, box.right, box.bottom}) digest.add(side);
  }
  const auto squeezed = make_picture(similarity::kSide, similarity::kSide, 11);
  const crops::CropCodes codes =
      crops::codes_of(std::span<const std::uint8_t, kSide * kSide * 3>(squeezed), kWidth, kHeight, boxes);
  const auto add = [&](crops::CropCode code) {
    digest.add(static_cast<std::uint32_t>(code));
    digest.add(static_cast<std::uint32_t>(code >> 32));
  };
  add(codes.whole);
  for (const crops::CropCode code : codes.parts) add(code);
  // A code with few signs changed, again and again: some results are near it.
  std::vector<crops::CropCode> wholes(64 + crops::kReadBeyond, crops::kSilent);
  Random random(12);
  for (std::size_t i = 0; i < 64; ++i) {
    wholes[i] = codes.parts[0];
    for (std::size_t k = 0; k < i / 4; ++k) wholes[i] ^= crops::CropCode{1} << random.below(crops::kSigns);
  }
  const crops::CodeRun run{codes.parts[0], 0, 64};
  std::vector<crops::CodeMatch> near;
  crops::find_matches({&run, 1}, wholes.data(), near);
  for (const crops::CodeMatch& one : near) digest.add(one.place);
  return fmt::format("{} boxes, {} near {}", boxes.size(), near.size(), digest.text());
}

constexpr KnownAnswer kSimilarityAnswers[] = {
    {"similarity", "similarity", "same recoloured different ef307f5b7fb67d22", similarity_answer},
    {"detailed_check", "detailed check", "same altered different 21bc1bfdd5acec78", detailed_check_answer},
    {"crops", "codes of parts", "2 boxes, 54 near 467d65798e6bf24c", crops_answer},
};

}  // namespace

std::span<const KnownAnswer> similarity_answers() { return kSimilarityAnswers; }

}  // namespace millrace::test_vectors
