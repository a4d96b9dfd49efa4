#include <fmt/format.h>

#include <algorithm>

#include "src/kernels/closelook/closelook.h"
#include "src/kernels/known/known.h"
#include "src/kernels/parts/parts.h"
#include "src/kernels/similarity/similarity.h"

namespace millrace::known {
namespace {

std::string similarity_answer(const Inputs&) {
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
std::string closelook_answer(const Inputs&) {
  constexpr int kWidth = 203, kHeight = 151;
  const auto prepared = [](std::vector<std::uint8_t> rgb) {
    return closelook::Prepared({kWidth, kHeight, std::move(rgb), kWidth, kHeight});
  };
  const std::vector<std::uint8_t> original = make_picture(kWidth, kHeight, 7);
  std::vector<std::uint8_t> noisy = original, marked = original;
  Random random(8);
  for (std::uint8_t& v : noisy) v = static_cast<std::uint8_t>(std::clamp(v + random.below(5) - 2, 0, 255));
  for (int y = 60; y < 90; ++y) std::fill_n(marked.begin() + (y * kWidth + 80) * 3, 120, std::uint8_t{250});
  const auto first = prepared(original);
  closelook::Looker looker;
  Digest digest;
  std::string kinds;
  for (const auto& other : {noisy, marked, make_picture(kWidth, kHeight, 9)}) {
    const closelook::Verdict v = looker.compare(first, prepared(other));
    kinds += fmt::format("{} ", closelook::name_of(v.kind));
    for (const float f :
         {v.excess, v.plain, v.soft, v.chroma, v.shift, v.drift, v.spread, v.correlation, v.tone, v.gain, v.sharpness,
          v.scale, v.first_alone, v.second_alone, v.first_place[0], v.second_place[3]}) {
      digest.add(f);
    }
  }
  return kinds + digest.text();
}

// Finds a picture on a plain ground, computes codes of parts, and compares a part with many wholes.
std::string parts_answer(const Inputs&) {
  constexpr int kWidth = 200, kHeight = 150, kInner = 120;
  constexpr auto kSide = static_cast<std::size_t>(similarity::kSide);
  const std::vector<std::uint8_t> inner = make_picture(kInner, kInner, 10);
  std::vector<std::uint8_t> ground(std::size_t{3} * kWidth * kHeight, 240);
  for (std::size_t y = 0; y < kInner; ++y)
    std::copy_n(inner.begin() + static_cast<std::ptrdiff_t>(y * kInner * 3), kInner * 3,
                ground.begin() + static_cast<std::ptrdiff_t>(((y + 20) * kWidth + 40) * 3));
  const std::vector<parts::Area> boxes = parts::content_boxes(ground, kWidth, kHeight);
  Digest digest;
  for (const parts::Area& box : boxes) {
    for (const float side : {box.left, box.top, box.right, box.bottom}) digest.add(side);
  }
  const auto squeezed = make_picture(similarity::kSide, similarity::kSide, 11);
  const parts::Codes codes =
      parts::codes_of(std::span<const std::uint8_t, kSide * kSide * 3>(squeezed), kWidth, kHeight, boxes);
  const auto add = [&](parts::Code code) {
    digest.add(static_cast<std::uint32_t>(code));
    digest.add(static_cast<std::uint32_t>(code >> 32));
  };
  add(codes.whole);
  for (const parts::Code code : codes.parts) add(code);
  // A code with few signs changed, again and again: some results are near it.
  std::vector<parts::Code> wholes(64 + parts::kReadBeyond, parts::kSilent);
  Random random(12);
  for (std::size_t i = 0; i < 64; ++i) {
    wholes[i] = codes.parts[0];
    for (std::size_t k = 0; k < i / 4; ++k) wholes[i] ^= parts::Code{1} << random.below(parts::kSigns);
  }
  const parts::Run run{codes.parts[0], 0, 64};
  std::vector<parts::Near> near;
  parts::find_near({&run, 1}, wholes.data(), near);
  for (const parts::Near& one : near) digest.add(one.place);
  return fmt::format("{} boxes, {} near {}", boxes.size(), near.size(), digest.text());
}

constexpr Answer kSimilarityAnswers[] = {
    {"similarity", "similarity", "same recoloured different ef307f5b7fb67d22", similarity_answer},
    {"closelook", "close look", "same altered different 21bc1bfdd5acec78", closelook_answer},
    {"parts", "codes of parts", "2 boxes, 54 near 467d65798e6bf24c", parts_answer},
};

}  // namespace

std::span<const Answer> similarity_answers() { return kSimilarityAnswers; }

}  // namespace millrace::known
