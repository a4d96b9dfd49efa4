// Input: rows of an 8-bit gray image, top to bottom, as they are decoded.
// Output: the image resized by Lanczos (a = 3), exactly as Pillow 13.0.0 resizes mode "L".
// Never: holds the whole input, except with an unchanged width and a height that does not shrink. It keeps the output
// of one pass, or a few rows of sums.
//
// Definition (Pillow's fixed-point resampling, followed bit by bit): an axis of `in` samples becomes `out` with scale =
// in / out, filter scale fs = max(1, scale), support 3 fs. Output x has centre c = (x + 0.5) scale and takes inputs
// [max(0, (int)(c - support + 0.5)), min(in, (int)(c + support + 0.5))). Each is weighted by L((i - c + 0.5) / fs),
// L(t) = sinc(t) sinc(t / 3), in double. The weights are divided by their sum, and rounded half away from zero to 22
// fractional bits. A pass sums in 32 bits from 2^21 and clips (sum >> 22) to 0..255. The horizontal pass comes first
// unless H - h > 0 and H - h > 2 (W - w); an axis whose size does not change is skipped.
//
// Exact on every CPU level: 32-bit integer sums do not depend on their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/memory/workspace.h"

namespace millrace {

// Inputs and weights of each output along one axis.
struct ResizeAxis {
  int in = 0, out = 0;
  std::vector<int> first;             // per output: index of its first input
  std::vector<int> count;             // per output: number of inputs
  std::vector<std::int32_t> weights;  // per output: `taps` weights; those from `count` on are zero
  int taps = 0;

  std::size_t weight_count() const { return weights.size(); }
  const std::int32_t* weights_of(int x) const {
    return weights.data() + static_cast<std::size_t>(x) * static_cast<std::size_t>(taps);
  }
};
// Returns the same object for the same sizes, as long as it is among the recently used ones.
std::shared_ptr<const ResizeAxis> lanczos_axis(int in, int out);

// True if Pillow 13.0.0 does the vertical pass first.
bool vertical_pass_first(int width, int height, int out_width, int out_height);

// Resizes one image whose rows arrive in order. Sides are 1 to 65,535 pixels.
class Resizer {
 public:
  Resizer(int width, int height, int out_width, int out_height);
  ~Resizer();
  Resizer(Resizer&&) noexcept;
  Resizer& operator=(Resizer&&) noexcept;

  // Adds the next `rows` rows, `stride` bytes apart.
  void push(const std::uint8_t* data, std::ptrdiff_t stride, int rows);

  // Returns the resized image, out_height rows of out_width, once every row was pushed. Valid until destruction.
  const std::uint8_t* result();

  // Returns the bytes that a Resizer of these sizes allocates, including its weights.
  static Workspace workspace(int width, int height, int out_width, int out_height);

 private:
  struct Pass;
  std::unique_ptr<Pass> horizontal_, vertical_;
  bool vertical_first_ = false;
  int width_, out_height_;
  std::vector<std::uint8_t> copy_;  // input rows, if the width is unchanged and the height does not shrink
  int pushed_ = 0;
  const std::uint8_t* result_ = nullptr;
  const std::uint8_t* finish();
};

// Computes the definition: whole image in, whole image out, slow.
std::vector<std::uint8_t> resize_reference(const std::uint8_t* data, std::ptrdiff_t stride, int width, int height,
                                           int out_width, int out_height);

}  // namespace millrace
