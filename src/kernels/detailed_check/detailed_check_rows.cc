#include <algorithm>
#include <array>

#include "src/kernels/detailed_check/detailed_check_steps.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/detailed_check/detailed_check_rows.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "src/kernels/floats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::detailed_check::HWY_NAMESPACE {
using floats::HWY_NAMESPACE::Floats;

using Eight = Floats<8>;

HWY_INLINE Eight luma(const Eight& r, const Eight& g, const Eight& b) {
  return Eight::all(0.299F) * r + Eight::all(0.587F) * g + Eight::all(0.114F) * b;
}
HWY_INLINE Eight held(const Eight& v, float low, float high) {
  return lesser(greater(v, Eight::all(low)), Eight::all(high));
}

// Tone::at() for eight levels, clamped to 0..255; `rise` is the difference between neighbouring knots.
HWY_INLINE Eight toned(const float* knots, const float* rise, const Eight& level) {
  const Eight place = held(level, 0, 255) * Eight::all(16.0F / 255.0F);
  const Eight knot = lesser(whole(place), Eight::all(15));
  return held(Eight::of_sixteen(knots, knot) + (place - knot) * Eight::of_sixteen(rise, knot), 0, 255);
}

void LumaOf(const Colour& from, Plane& to) {
  for (int y = 0; y < to.height(); ++y) {
    for (int x = 0; x < to.width(); x += 8) {
      luma(Eight::at(from[0].row(y) + x), Eight::at(from[1].row(y) + x), Eight::at(from[2].row(y) + x))
          .put(to.row(y) + x);
    }
  }
}

void ApplyTone(const Tone& tone, const Colour& from, Colour& to) {
  std::array<float, Tone::kKnots - 1> rise;
  for (std::size_t i = 0; i < rise.size(); ++i) rise[i] = tone.knots[i + 1] - tone.knots[i];
  const Eight saturation = Eight::all(tone.saturation);
  for (int y = 0; y < from[0].height(); ++y) {
    for (int x = 0; x < from[0].width(); x += 8) {
      const Eight r = Eight::at(from[0].row(y) + x), g = Eight::at(from[1].row(y) + x),
                  b = Eight::at(from[2].row(y) + x);
      const Eight s = luma(r, g, b);
      toned(tone.knots.data(), rise.data(), s + saturation * (r - s)).put(to[0].row(y) + x);
      toned(tone.knots.data(), rise.data(), s + saturation * (g - s)).put(to[1].row(y) + x);
      toned(tone.knots.data(), rise.data(), s + saturation * (b - s)).put(to[2].row(y) + x);
    }
  }
}

void AddMoments(const float* a, const float* b, int count, const Moments& to) {
  const auto add = [](const Eight& value, float* sum) { (Eight::at(sum) + value).put(sum); };
  int x = 0;
  for (; x + 8 <= count; x += 8) {
    const Eight one = Eight::at(a + x), other = Eight::at(b + x), d = one - other;
    add(d * d, to.squares + x);
    add(one, to.first + x);
    add(one * one, to.first_squares + x);
    add(other, to.second + x);
    add(other * other, to.second_squares + x);
  }
  for (; x < count; ++x) {
    to.squares[x] += (a[x] - b[x]) * (a[x] - b[x]);
    to.first[x] += a[x];
    to.first_squares[x] += a[x] * a[x];
    to.second[x] += b[x];
    to.second_squares[x] += b[x] * b[x];
  }
}

void AddBytes(const std::uint8_t* from, float weight, std::size_t count, float* to) {
  const Eight w = Eight::all(weight);
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) (Eight::at(to + i) + w * Eight::of_bytes(from + i)).put(to + i);
  for (; i < count; ++i) to[i] += weight * static_cast<float>(from[i]);
}

void SplitBytes(const std::uint8_t* from, int count, float* red, float* green, float* blue) {
  int x = 0;
  for (; x + 8 <= count; x += 8) {
    Eight r, g, b;
    Eight::threes_of_bytes(from + 3 * x, r, g, b);
    r.put(red + x);
    g.put(green + x);
    b.put(blue + x);
  }
  for (; x < count; ++x) {
    red[x] = from[3 * x];
    green[x] = from[3 * x + 1];
    blue[x] = from[3 * x + 2];
  }
}

// Writes means of two by two.
void Halve(const Plane& from, Plane& to) {
  const Eight quarter = Eight::all(0.25F);
  for (int y = 0; y < to.height(); ++y) {
    for (int x = 0; x < to.width(); x += 8) {
      Eight a, b, c, d;
      Eight::pairs_at(from.row(2 * y) + 2 * x, a, b);
      Eight::pairs_at(from.row(2 * y + 1) + 2 * x, c, d);
      (((a + b) + (c + d)) * quarter).put(to.row(y) + x);
    }
  }
}

// Positions of a row's pixels in another raster: the whole parts and the remainders. Positions far outside are clamped
// to the edge's neighbourhood. Positions are floats: within 0.0002 of a pixel for sides of 1024.
struct Places {
  Eight u, v, across, down;
};
HWY_INLINE Places find_focus_places(const Affine& warp, int y, const Eight& x, float width, float height) {
  const Eight eight = Eight::all(8);
  const Eight u =
      held(Eight::all(static_cast<float>(warp.u(0, y))) + Eight::all(static_cast<float>(warp.m[0])) * x, -4, width + 4);
  const Eight v = held(Eight::all(static_cast<float>(warp.v(0, y))) + Eight::all(static_cast<float>(warp.m[3])) * x, -4,
                       height + 4);
  const Eight iu = whole(u + eight) - eight, iv = whole(v + eight) - eight;
  return {iu, iv, u - iu, v - iv};
}
HWY_INLINE Eight steps_from(int x) {
  alignas(32) const float step[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  return Eight::at(step) + Eight::all(static_cast<float>(x));
}

void WarpLinear(const Plane& from, const Affine& warp, Plane& to) {
  const auto w = static_cast<float>(from.width()), h = static_cast<float>(from.height());
  const Eight stride = Eight::all(static_cast<float>(from.stride())), one = Eight::all(1);
  const float* const all = from.row(0);
  for (int y = 0; y < to.height(); ++y) {
    float* const out = to.row(y);
    for (int x = 0; x < to.width(); x += 8) {
      const Places at = find_focus_places(warp, y, steps_from(x), w, h);
      const Eight left = held(at.u, 0, w - 1), right = held(at.u + one, 0, w - 1);
      const Eight upper = held(at.v, 0, h - 1) * stride, lower = held(at.v + one, 0, h - 1) * stride;
      const Eight a = Eight::lookup(all, upper + left), b = Eight::lookup(all, upper + right);
      const Eight c = Eight::lookup(all, lower + left), d = Eight::lookup(all, lower + right);
      const Eight above = a + at.across * (b - a), below = c + at.across * (d - c);
      (above + at.down * (below - above)).put(out + x);
    }
  }
}

void SpotsOf(const Affine& warp, int y, int width, const Interleaved& in, SamplePositions& out) {
  const auto w = static_cast<float>(in.width), h = static_cast<float>(in.height);
  const Eight stride = Eight::all(static_cast<float>(in.stride())), before = Eight::all(Interleaved::kPad - 1);
  for (int x = 0; x < width; x += 8) {
    const Places at = find_focus_places(warp, y, steps_from(x), w, h);
    ((at.v + before) * stride + (at.u + before)).put(out.first.data() + x);
    at.across.put(out.across.data() + x);
    at.down.put(out.down.data() + x);
  }
}

}  // namespace millrace::detailed_check::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::detailed_check {
namespace {

HWY_EXPORT(LumaOf);
HWY_EXPORT(ApplyTone);
HWY_EXPORT(AddMoments);
HWY_EXPORT(AddBytes);
HWY_EXPORT(SplitBytes);
HWY_EXPORT(Halve);
HWY_EXPORT(WarpLinear);
HWY_EXPORT(SpotsOf);

}  // namespace

void luma_of(const Colour& from, Plane& to) {
  to.size(from[0].width(), from[0].height());
  HWY_DYNAMIC_DISPATCH(LumaOf)(from, to);
}

void apply_tone(const Tone& tone, const Colour& from, Colour& to) {
  for (Plane& plane : to) plane.size(from[0].width(), from[0].height());
  HWY_DYNAMIC_DISPATCH(ApplyTone)(tone, from, to);
}

void add_moments(const float* a, const float* b, int count, const Moments& to) {
  HWY_DYNAMIC_DISPATCH(AddMoments)(a, b, count, to);
}

void add_bytes(const std::uint8_t* from, float weight, std::size_t count, float* to) {
  HWY_DYNAMIC_DISPATCH(AddBytes)(from, weight, count, to);
}

void split_bytes(const std::uint8_t* from, int count, float* red, float* green, float* blue) {
  HWY_DYNAMIC_DISPATCH(SplitBytes)(from, count, red, green, blue);
}

void halve(const Plane& from, Plane& to) {
  to.size(from.width() / 2, from.height() / 2);
  HWY_DYNAMIC_DISPATCH(Halve)(from, to);
}

void warp_linear(const Plane& from, const Affine& warp, Plane& to) {
  if (!warp.is_whole_shift()) return HWY_DYNAMIC_DISPATCH(WarpLinear)(from, warp, to);
  // A shift by whole pixels needs no interpolation: rows are copied, and their end values repeat.
  const int w = from.width(), h = from.height();
  const int dx = static_cast<int>(std::clamp(warp.m[2], -1e6, 1e6)),
            dy = static_cast<int>(std::clamp(warp.m[5], -1e6, 1e6));
  for (int y = 0; y < to.height(); ++y) {
    const float* const row = from.row(std::clamp(y + dy, 0, h - 1));
    float* const out = to.row(y);
    const int first = std::clamp(-dx, 0, to.width()), last = std::clamp(w - dx, first, to.width());
    std::fill(out, out + first, row[0]);
    std::copy(row + first + dx, row + last + dx, out + first);
    std::fill(out + last, out + to.width(), row[w - 1]);
  }
}

void find_sample_positions(const Affine& warp, int y, int width, const Interleaved& in, SamplePositions& out) {
  const std::size_t size = static_cast<std::size_t>(width) + 8;
  out.first.resize(size);
  out.across.resize(size);
  out.down.resize(size);
  HWY_DYNAMIC_DISPATCH(SpotsOf)(warp, y, width, in, out);
}

}  // namespace millrace::detailed_check
#endif
