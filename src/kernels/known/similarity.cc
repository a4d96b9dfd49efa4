#include <fmt/format.h>

#include <algorithm>

#include "src/kernels/closelook/closelook.h"
#include "src/kernels/known/known.h"
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

// A copy with noise, one with something added, and another picture.
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

constexpr Answer kAnswers[] = {
    {"similarity", "similarity", "same recoloured different ef307f5b7fb67d22", similarity_answer},
    {"closelook", "close look", "same altered different 21bc1bfdd5acec78", closelook_answer},
};

}  // namespace

std::span<const Answer> similarity_answers() { return kAnswers; }

}  // namespace millrace::known
