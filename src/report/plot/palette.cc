#include "src/report/plot/palette.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace millrace::report {
namespace {

using Colour = std::array<int, 3>;

// Nine even steps. Colours between them are interpolated linearly, which is even enough.
constexpr std::array<Colour, 9> kDiverging = {{{10, 74, 134},
                                               {52, 119, 176},
                                               {103, 165, 212},
                                               {172, 208, 234},
                                               {247, 247, 245},
                                               {245, 205, 157},
                                               {230, 156, 82},
                                               {197, 113, 30},
                                               {154, 74, 0}}};
constexpr std::array<Colour, 9> kSequential = {{{247, 247, 245},
                                                {203, 225, 232},
                                                {161, 201, 217},
                                                {120, 177, 203},
                                                {83, 151, 185},
                                                {56, 124, 166},
                                                {30, 98, 145},
                                                {19, 72, 118},
                                                {10, 47, 92}}};

int channel(std::string_view shade, std::size_t i) {
  return static_cast<int>(std::strtol(std::string(shade.substr(1 + 2 * i, 2)).c_str(), nullptr, 16));
}

}  // namespace

std::string shade(Shades shades, double part) {
  const auto& anchors = shades == Shades::diverging ? kDiverging : kSequential;
  constexpr int kBetween = kShadeSteps / 8;
  const int step = static_cast<int>(std::floor(std::clamp(part, 0.0, 1.0) * kShadeSteps + 0.5));
  const int anchor = std::min(step / kBetween, 7), rest = step - anchor * kBetween;
  std::string text = "#";
  for (std::size_t c = 0; c < 3; ++c) {
    const int from = anchors[static_cast<std::size_t>(anchor)][c],
              to = anchors[static_cast<std::size_t>(anchor) + 1][c];
    text += fmt::format("{:02x}", (from * (kBetween - rest) + to * rest + kBetween / 2) / kBetween);
  }
  return text;
}

bool is_dark(std::string_view shade) {
  // Luma of Rec. 601, in thousandths; above this black text has the higher contrast.
  constexpr int kTurn = 135'000;
  return 299 * channel(shade, 0) + 587 * channel(shade, 1) + 114 * channel(shade, 2) < kTurn;
}

}  // namespace millrace::report
