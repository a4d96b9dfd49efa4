#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "src/kernels/crops/crops.h"

namespace millrace::crops {
namespace {

// docs/design/crops.md gives the reasons for the constants of this file.

// Box in pixels, right and bottom exclusive; edges may lie within a pixel.
struct Box {
  float left, top, right, bottom;
  float width() const { return right - left; }
  float height() const { return bottom - top; }
};

enum class Edge { left, top, right, bottom };
constexpr std::array<Edge, 4> kEdges = {Edge::top, Edge::bottom, Edge::left, Edge::right};

class Finder {
 public:
  Finder(std::span<const std::uint8_t> rgb, int width, int height) : rgb_(rgb), width_(width), height_(height) {}

  std::vector<CropArea> run() {
    // Margins that are plain but for one pixel in fifty; then margins with text or symbols on them, one pixel in seven.
    add(peeled(50));
    add(peeled(7));
    const auto w = static_cast<float>(width_), h = static_cast<float>(height_);
    const std::vector<int> rows = steps(true), columns = steps(false);
    add({steepest(columns, false), steepest(rows, false), w - steepest(columns, true), h - steepest(rows, true)});
    if (const float t = steepest_pair(rows); t > 0) add({0, t, w, h - t});
    if (const float t = steepest_pair(columns); t > 0) add({t, 0, w - t, h});
    return std::move(found_);
  }

 private:
  const std::uint8_t* at(int x, int y) const {
    return rgb_.data() +
           3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x));
  }

  // Lines of whole pixels that a box covers, from one of its edges on.
  struct Lines {
    int left, top, right, bottom;  // right and bottom exclusive
    Edge edge;

    Lines(const Box& box, Edge e)
        : left(static_cast<int>(std::ceil(box.left))),
          top(static_cast<int>(std::ceil(box.top))),
          right(static_cast<int>(box.right)),
          bottom(static_cast<int>(box.bottom)),
          edge(e) {}
    bool rows() const { return edge == Edge::top || edge == Edge::bottom; }
    int length() const { return rows() ? right - left : bottom - top; }
    int count() const { return rows() ? bottom - top : right - left; }
  };
  const std::uint8_t* pixel(const Lines& lines, int line, int place) const {
    switch (lines.edge) {
      case Edge::top:
        return at(lines.left + place, lines.top + line);
      case Edge::bottom:
        return at(lines.left + place, lines.bottom - 1 - line);
      case Edge::left:
        return at(lines.left + line, lines.top + place);
      case Edge::right:
        break;
    }
    return at(lines.right - 1 - line, lines.top + place);
  }

  // Returns the width of the margin along an edge. Lines of the margin have the colour of the outermost line, but for
  // one pixel in `one_in`. The line after them is partly margin and partly picture: the share of margin is what it
  // lacks of the next line's difference.
  float margin(const Box& box, Edge edge, int one_in) const {
    const Lines lines(box, edge);
    const int length = lines.length(), most = lines.count() * 48 / 100;
    constexpr int kWithin = 14;
    std::array<int, 3> colour{};
    std::vector<std::uint8_t> values(static_cast<std::size_t>(length));
    for (std::size_t c = 0; c < 3; ++c) {
      for (int i = 0; i < length; ++i) values[static_cast<std::size_t>(i)] = pixel(lines, 0, i)[c];
      std::nth_element(values.begin(), values.begin() + length / 2, values.end());
      colour[c] = values[static_cast<std::size_t>(length / 2)];
    }
    const auto apart = [&](int line, int place) {
      const std::uint8_t* p = pixel(lines, line, place);
      return std::max({std::abs(p[0] - colour[0]), std::abs(p[1] - colour[1]), std::abs(p[2] - colour[2])});
    };
    const auto all_apart = [&](int line) {
      int sum = 0;
      for (int i = 0; i < length; ++i) sum += apart(line, i);
      return static_cast<float>(sum);
    };
    for (int line = 0; line < most; ++line) {
      int others = 0;
      for (int i = 0; i < length; ++i) others += apart(line, i) > kWithin ? 1 : 0;
      if (others * one_in <= length) continue;
      if (line == 0) return 0;
      return static_cast<float>(line) + 1 - std::min(1.0F, all_apart(line) / all_apart(line + 1));
    }
    return static_cast<float>(most);
  }

  // Removes margins of one colour within margins of another: a viewer's tools, then the ground that it shows pictures
  // on.
  Box peeled(int one_in) const {
    constexpr int kRounds = 3;
    constexpr float kMinSide = 12;
    Box box{0, 0, static_cast<float>(width_), static_cast<float>(height_)};
    for (int round = 0; round < kRounds; ++round) {
      const Box before = box;
      for (const Edge edge : kEdges) {
        if (box.width() < kMinSide || box.height() < kMinSide) return before;
        const float depth = margin(box, edge, one_in);
        (edge == Edge::top      ? box.top
         : edge == Edge::bottom ? box.bottom
         : edge == Edge::left   ? box.left
                                : box.right) += edge == Edge::top || edge == Edge::left ? depth : -depth;
      }
      if (box.width() == before.width() && box.height() == before.height()) break;
    }
    return box;
  }

  // Returns the difference between each row, or column, and the one before it: the mean of all three channels together.
  // A level is 64; the first value is 0.
  std::vector<int> steps(bool rows) const {
    const int lines = rows ? height_ : width_, length = rows ? width_ : height_;
    std::vector<int> out(static_cast<std::size_t>(lines), 0);
    for (int line = 1; line < lines; ++line) {
      std::int64_t sum = 0;
      for (int i = 0; i < length; ++i) {
        const std::uint8_t* a = rows ? at(i, line) : at(line, i);
        const std::uint8_t* b = rows ? at(i, line - 1) : at(line - 1, i);
        for (std::size_t c = 0; c < 3; ++c) sum += std::abs(a[c] - b[c]);
      }
      out[static_cast<std::size_t>(line)] = static_cast<int>(64 * sum / length);
    }
    return out;
  }

  // Ratio from which an edge is straight: its change over the mean change of the lines outside it plus noise of a level
  // and a half.
  static constexpr float kSteep = 2.5F, kNoise = 64 * 3 * 1.5F;

  // Returns the distance from the first line, or the last, of the line that changes the most relative to those outside
  // it. Returns 0 where no line does. An edge within a pixel is two steps.
  static float steepest(const std::vector<int>& steps, bool from_last) {
    const int lines = static_cast<int>(steps.size());
    const auto of = [&](int i) {
      return static_cast<float>(steps[static_cast<std::size_t>(from_last ? lines - i : i)]);
    };
    float outside = 0, best = 0, most = kSteep;
    for (int t = 3; t < lines * 47 / 100; ++t) {
      outside += of(t - 2);
      const float ratio = of(t) / (outside / static_cast<float>(t - 2) + kNoise);
      if (ratio <= most) continue;
      most = ratio;
      const float before = of(t - 1), after = of(t + 1);
      best = static_cast<float>(t) + (after > before ? after : -before) / (of(t) + std::max(after, before));
    }
    return best;
  }

  // Same for two edges at one distance from both ends.
  static float steepest_pair(const std::vector<int>& steps) {
    const int lines = static_cast<int>(steps.size());
    const auto of = [&](int i) { return static_cast<float>(steps[static_cast<std::size_t>(i)]); };
    float outside = 0, best = 0, most = kSteep;
    for (int t = 3; t < lines * 47 / 100; ++t) {
      outside += of(t - 2) + of(lines - t + 2);
      const float other = std::max({of(lines - t - 1), of(lines - t), of(lines - t + 1)});
      const float ratio = std::min(of(t), other) / (outside / static_cast<float>(2 * (t - 2)) + kNoise);
      if (ratio <= most) continue;
      most = ratio;
      best = static_cast<float>(t);
    }
    return best;
  }

  void add(const Box& box) {
    constexpr float kShort = 12, kLong = 20, kTrimmed = 1.5F;
    const auto w = static_cast<float>(width_), h = static_cast<float>(height_);
    if (std::max(w - box.width(), h - box.height()) < kTrimmed) return;
    if (std::min(box.width(), box.height()) < kShort || std::max(box.width(), box.height()) < kLong) return;
    const CropArea area{box.left / w, box.top / h, box.right / w, box.bottom / h};
    const auto near = [&](const CropArea& a) {
      const auto apart = [](float x, float y, float side) { return std::fabs(x - y) * side; };
      return apart(a.left, area.left, w) < 1 && apart(a.right, area.right, w) < 1 && apart(a.top, area.top, h) < 1 &&
             apart(a.bottom, area.bottom, h) < 1;
    };
    if (std::none_of(found_.begin(), found_.end(), near)) found_.push_back(area);
  }

  std::span<const std::uint8_t> rgb_;
  int width_, height_;
  std::vector<CropArea> found_;
};

}  // namespace

std::vector<CropArea> content_boxes(std::span<const std::uint8_t> rgb, int width, int height) {
  return Finder(rgb, width, height).run();
}

}  // namespace millrace::crops
