#include <algorithm>

#include "src/kernels/closelook/closelook_steps.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/closelook/closelook_rows.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "src/kernels/floats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::closelook::HWY_NAMESPACE {
using floats::HWY_NAMESPACE::Floats;

using Eight = Floats<8>;

HWY_INLINE Eight luma(const Eight& r, const Eight& g, const Eight& b) {
  return Eight::all(0.299F) * r + Eight::all(0.587F) * g + Eight::all(0.114F) * b;
}
HWY_INLINE Eight held(const Eight& v, float low, float high) {
  return lesser(greater(v, Eight::all(low)), Eight::all(high));
}

// As Tone::at().
HWY_INLINE Eight toned(const Tone& tone, const Eight& level) {
  const Eight place = held(level, 0, 255) * Eight::all(16.0F / 255.0F);
  const Eight knot = lesser(whole(place), Eight::all(15));
  const Eight below = Eight::lookup(tone.knots.data(), knot), above = Eight::lookup(tone.knots.data() + 1, knot);
  return held(below + (place - knot) * (above - below), 0, 255);
}

struct Three {
  Eight r, g, b;
};
HWY_INLINE Three toned_at(const Tone& tone, const Colour& from, int y, int x) {
  const Eight r = Eight::at(from[0].row(y) + x), g = Eight::at(from[1].row(y) + x), b = Eight::at(from[2].row(y) + x);
  const Eight s = luma(r, g, b), saturation = Eight::all(tone.saturation);
  return {toned(tone, s + saturation * (r - s)), toned(tone, s + saturation * (g - s)),
          toned(tone, s + saturation * (b - s))};
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
  for (int y = 0; y < from[0].height(); ++y) {
    for (int x = 0; x < from[0].width(); x += 8) {
      const Three now = toned_at(tone, from, y, x);
      now.r.put(to[0].row(y) + x);
      now.g.put(to[1].row(y) + x);
      now.b.put(to[2].row(y) + x);
    }
  }
}

void TonedLumaOf(const Tone& tone, const Colour& from, Plane& to) {
  for (int y = 0; y < to.height(); ++y) {
    for (int x = 0; x < to.width(); x += 8) {
      const Three now = toned_at(tone, from, y, x);
      luma(now.r, now.g, now.b).put(to.row(y) + x);
    }
  }
}

void AddBytes(const std::uint8_t* from, float weight, std::size_t count, float* to) {
  const Eight w = Eight::all(weight);
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) (Eight::at(to + i) + w * Eight::of_bytes(from + i)).put(to + i);
  for (; i < count; ++i) to[i] += weight * static_cast<float>(from[i]);
}

// Means of two by two.
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

// Positions are floats: within 0.0002 of a pixel for sides of 1024.
void WarpLinear(const Plane& from, const Affine& warp, Plane& to) {
  const auto w = static_cast<float>(from.width()), h = static_cast<float>(from.height());
  const auto stride = static_cast<float>(from.stride());
  alignas(32) const float step[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  const Eight steps = Eight::at(step), one = Eight::all(1), eight = Eight::all(8);
  const Eight du = Eight::all(static_cast<float>(warp.m[0])), dv = Eight::all(static_cast<float>(warp.m[3]));
  for (int y = 0; y < to.height(); ++y) {
    const Eight u0 = Eight::all(static_cast<float>(warp.u(0, y))), v0 = Eight::all(static_cast<float>(warp.v(0, y)));
    float* const out = to.row(y);
    for (int x = 0; x < to.width(); x += 8) {
      const Eight at = steps + Eight::all(static_cast<float>(x));
      // What lies far outside is held to the edge's neighbourhood.
      const Eight u = held(u0 + du * at, -4, w + 4), v = held(v0 + dv * at, -4, h + 4);
      const Eight iu = whole(u + eight) - eight, iv = whole(v + eight) - eight;
      const Eight across = u - iu, down = v - iv;
      const Eight left = held(iu, 0, w - 1), right = held(iu + one, 0, w - 1);
      const Eight upper = held(iv, 0, h - 1) * Eight::all(stride),
                  lower = held(iv + one, 0, h - 1) * Eight::all(stride);
      const float* const all = from.row(0);
      const Eight a = Eight::lookup(all, upper + left), b = Eight::lookup(all, upper + right);
      const Eight c = Eight::lookup(all, lower + left), d = Eight::lookup(all, lower + right);
      const Eight above = a + across * (b - a), below = c + across * (d - c);
      (above + down * (below - above)).put(out + x);
    }
  }
}

}  // namespace millrace::closelook::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::closelook {
namespace {

HWY_EXPORT(LumaOf);
HWY_EXPORT(ApplyTone);
HWY_EXPORT(TonedLumaOf);
HWY_EXPORT(AddBytes);
HWY_EXPORT(Halve);
HWY_EXPORT(WarpLinear);

}  // namespace

void luma_of(const Colour& from, Plane& to) {
  to.size(from[0].width(), from[0].height());
  HWY_DYNAMIC_DISPATCH(LumaOf)(from, to);
}

void apply_tone(const Tone& tone, const Colour& from, Colour& to) {
  for (Plane& plane : to) plane.size(from[0].width(), from[0].height());
  HWY_DYNAMIC_DISPATCH(ApplyTone)(tone, from, to);
}

void toned_luma_of(const Tone& tone, const Colour& from, Plane& to) {
  to.size(from[0].width(), from[0].height());
  HWY_DYNAMIC_DISPATCH(TonedLumaOf)(tone, from, to);
}

void add_bytes(const std::uint8_t* from, float weight, std::size_t count, float* to) {
  HWY_DYNAMIC_DISPATCH(AddBytes)(from, weight, count, to);
}

void halve(const Plane& from, Plane& to) {
  to.size(from.width() / 2, from.height() / 2);
  HWY_DYNAMIC_DISPATCH(Halve)(from, to);
}

void warp_linear(const Plane& from, const Affine& warp, Plane& to) { HWY_DYNAMIC_DISPATCH(WarpLinear)(from, warp, to); }

}  // namespace millrace::closelook
#endif
