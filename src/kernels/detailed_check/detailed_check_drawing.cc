#include <algorithm>

#include "src/kernels/detailed_check/detailed_check_steps.h"

namespace millrace::detailed_check {

bool is_drawing(const Colour& picture) {
  // A square of eight pixels is plain if its levels differ by 2 at most. Among 34 photographs at 512 pixels one has a
  // third of such squares (a moonlit sea), and two when saved at quality 40. Flags, letters, diagrams and maps have
  // 0.34 to 0.97.
  // docs/design/detailed-check.md gives the reasons for the constants of this file.
  constexpr int kSquare = 8;
  constexpr float kNothing = 2;
  constexpr int kOneIn = 3;
  const int across = picture[0].width() / kSquare, down = picture[0].height() / kSquare;
  const auto is_plain = [&](int column, int row) {
    return std::all_of(picture.begin(), picture.end(), [&](const Plane& plane) {
      float low = 255, high = 0;
      for (int y = row * kSquare; y < (row + 1) * kSquare; ++y) {
        const float* const at = plane.row(y) + column * kSquare;
        const auto [least, most] = std::minmax_element(at, at + kSquare);
        low = std::min(low, *least);
        high = std::max(high, *most);
      }
      return high - low <= kNothing;
    });
  };
  int plain = 0;
  for (int row = 0; row < down; ++row) {
    for (int column = 0; column < across; ++column) plain += is_plain(column, row) ? 1 : 0;
  }
  return kOneIn * plain >= across * down && plain > 0;
}

}  // namespace millrace::detailed_check
