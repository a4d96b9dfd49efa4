#include <algorithm>
#include <array>

#include "src/kernels/latents/latents_steps.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/latents/latents_plane.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "src/kernels/latents/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::latents::HWY_NAMESPACE {

template <class V>
HWY_INLINE V PixelAt(const float* row, std::size_t x) {
  return pixel_at<V>(row + x * kLanes);
}

// Adds columns from `begin` to `end`, the first of which has a neighbour to the left.
template <class V, bool kMirrored>
HWY_INLINE void AddPart(const float* row, const float* above, std::size_t begin, std::size_t end, std::size_t width,
                        V& sum, V& squares, V& lag_x, V& lag_y, V& step_x, V& step_y, V& mirror) {
  V left = PixelAt<V>(row, begin - 1);
  for (std::size_t x = begin; x < end; ++x) {
    const V here = PixelAt<V>(row, x), up = PixelAt<V>(above, x);
    sum += here;
    squares = multiply_add(here, here, squares);
    lag_x = multiply_add(here, left, lag_x);
    step_x += size_of(here - left);
    lag_y = multiply_add(here, up, lag_y);
    step_y += size_of(here - up);
    if constexpr (kMirrored) mirror = multiply_add(here, PixelAt<V>(row, width - 1 - x), mirror);
    left = here;
  }
}

template <class V>
HWY_INLINE V RowProduct(const float* a, const float* b, std::size_t width) {
  V out = V::all(0);
  for (std::size_t x = 0; x < width; ++x) out = multiply_add(PixelAt<V>(a, x), PixelAt<V>(b, x), out);
  return out;
}

template <class V>
void SumPlaneIn(const float* plane, int height, int width, PlaneSums& out) {
  const auto h = static_cast<std::size_t>(height), w = static_cast<std::size_t>(width);
  const std::size_t half_w = w / 2, half_h = h / 2;
  const auto row_at = [&](std::size_t y) { return plane + y * w * kLanes; };
  const bool odd_w = w % 2 == 1, odd_h = h % 2 == 1;
  for (std::size_t y = 0; y < h; ++y) {
    const float* const row = row_at(y);
    const float* const above = row_at(y > 0 ? y - 1 : h - 1);
    // The first column's left neighbour is at the other end of the row.
    const V first = PixelAt<V>(row, 0), last = PixelAt<V>(row, w - 1), over_first = PixelAt<V>(above, 0);
    V sum = first, squares = first * first, lag_x = V::all(0), lag_y = first * over_first, step_x = V::all(0),
      step_y = size_of(first - over_first), mirror = V::all(0);
    if (half_w > 0) mirror = first * last;
    AddPart<V, true>(row, above, 1, std::max<std::size_t>(half_w, 1), w, sum, squares, lag_x, lag_y, step_x, step_y,
                     mirror);
    if (half_w > 0) {
      add_to(out.left, sum);
      add_to(out.left_squares, squares);
    }
    V rest = V::all(0), rest_squares = V::all(0), unused = V::all(0);
    AddPart<V, false>(row, above, std::max<std::size_t>(half_w, 1), w, w, rest, rest_squares, lag_x, lag_y, step_x,
                      step_y, unused);
    sum += rest;
    squares += rest_squares;
    add_to(out.sum, sum);
    add_to(out.squares, squares);
    add_to(out.lag_x, lag_x);
    add_to(out.step_x, step_x);
    add_to(out.mirror_x, mirror);
    add_to(out.wrap_x, first * last);
    add_to(out.first_column, first);
    add_to(out.first_column_squares, first * first);
    add_to(out.last_column, last);
    add_to(out.last_column_squares, last * last);
    if (odd_w) {
      const V middle = PixelAt<V>(row, half_w);
      add_to(out.middle_column, middle);
      add_to(out.middle_column_squares, middle * middle);
      V published = V::all(0);
      for (std::size_t x = 0; x < half_w; ++x)
        published = multiply_add(PixelAt<V>(row, x), PixelAt<V>(row, 2 * half_w - 1 - x), published);
      add_to(out.published_x, published);
    }
    if (y > 0) {
      add_to(out.lag_y, lag_y);
      add_to(out.step_y, step_y);
    } else {
      add_to(out.wrap_y, lag_y);
      add_to(out.first_row, sum);
      add_to(out.first_row_squares, squares);
    }
    if (y + 1 == h) {
      add_to(out.last_row, sum);
      add_to(out.last_row_squares, squares);
    }
    if (odd_h && y == half_h) {
      add_to(out.middle_row, sum);
      add_to(out.middle_row_squares, squares);
    }
    if (y >= half_h) continue;
    add_to(out.top, sum);
    add_to(out.top_squares, squares);
    add_to(out.mirror_y, RowProduct<V>(row, row_at(h - 1 - y), w));
    if (odd_h) add_to(out.published_y, RowProduct<V>(row, row_at(2 * half_h - 1 - y), w));
  }
}

void SumPlane(const float* plane, int height, int width, PlaneSums& out) {
  if (has_few_pixels(height, width)) {
    SumPlaneIn<Wide>(plane, height, width, out);
  } else {
    SumPlaneIn<Lanes>(plane, height, width, out);
  }
}

// Adds the products of four channels of `a` at a time with all channels of `b`.
template <class V>
void AddProductsOf(const float* a, const float* b, std::size_t height, std::size_t width, double* out) {
  for (std::size_t y = 0; y < height; ++y, a += width * kLanes, b += width * kLanes) {
    for (std::size_t first = 0; first < kLanes; first += 4) {
      V p0 = V::all(0), p1 = p0, p2 = p0, p3 = p0;
      for (std::size_t x = 0; x < width; ++x) {
        const V other = PixelAt<V>(b, x);
        const float* const own = a + x * kLanes + first;
        p0 = multiply_add(V::all(own[0]), other, p0);
        p1 = multiply_add(V::all(own[1]), other, p1);
        p2 = multiply_add(V::all(own[2]), other, p2);
        p3 = multiply_add(V::all(own[3]), other, p3);
      }
      const V* const rows[] = {&p0, &p1, &p2, &p3};
      for (std::size_t i = 0; i < 4; ++i) {
        double* const to = out + (first + i) * kLanes;
        (Wide::at(to) + widened(*rows[i])).put(to);
      }
    }
  }
}

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL

// Targets where one vector holds sixteen lanes rotate it: by 0 to 8 lanes, and by up to 15 if `a` and `b` differ.
template <std::size_t kTurns>
HWY_INLINE void AddTurned(const float* a, const float* b, std::size_t height, std::size_t width, std::size_t begin,
                          double* out) {
  const Lanes::D d;
  const hn::RebindToUnsigned<Lanes::D> integers;
  decltype(hn::IndicesFromVec(d, hn::Zero(integers))) turns[kTurns];
  for (std::size_t k = 0; k < kTurns; ++k) {
    const auto lanes = hn::And(hn::Add(hn::Iota(integers, 0), hn::Set(integers, static_cast<std::uint32_t>(begin + k))),
                               hn::Set(integers, kLanes - 1));
    turns[k] = hn::IndicesFromVec(d, lanes);
  }
  std::array<Sum, kTurns> all{};
  const float *own_row = a, *other_row = b;
  for (std::size_t y = 0; y < height; ++y, own_row += width * kLanes, other_row += width * kLanes) {
    Lanes sums[kTurns];
    for (std::size_t k = 0; k < kTurns; ++k) sums[k] = Lanes::all(0);
    for (std::size_t x = 0; x < width; ++x) {
      const auto own = hn::LoadU(d, own_row + x * kLanes), other = hn::LoadU(d, other_row + x * kLanes);
      for (std::size_t k = 0; k < kTurns; ++k)
        sums[k].part[0] = hn::MulAdd(own, hn::TableLookupLanes(other, turns[k]), sums[k].part[0]);
    }
    for (std::size_t k = 0; k < kTurns; ++k) add_to(all[k], sums[k]);
  }
  for (std::size_t k = 0; k < kTurns; ++k) {
    const std::size_t turn = begin + k;
    for (std::size_t c = 0; c < kLanes; ++c) {
      const std::size_t to = (c + turn) % kLanes;
      out[c * kLanes + to] += all[k][c];
      // Rotations by more than half a turn give the same products if `a` is `b`.
      if (a == b && turn > 0 && turn < kLanes / 2) out[to * kLanes + c] += all[k][c];
    }
  }
}

template <>
void AddProductsOf<Lanes>(const float* a, const float* b, std::size_t height, std::size_t width, double* out) {
  AddTurned<9>(a, b, height, width, 0, out);
  if (a != b) AddTurned<7>(a, b, height, width, 9, out);
}

#endif

void AddProducts(const float* a, const float* b, int height, int width, double* out) {
  const auto h = static_cast<std::size_t>(height), w = static_cast<std::size_t>(width);
  if (has_few_pixels(height, width)) {
    AddProductsOf<Wide>(a, b, h, w, out);
  } else {
    AddProductsOf<Lanes>(a, b, h, w, out);
  }
}

}  // namespace millrace::latents::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::latents {

HWY_EXPORT(SumPlane);
HWY_EXPORT(AddProducts);

void sum_plane(const float* plane, int height, int width, PlaneSums& out) {
  HWY_DYNAMIC_DISPATCH(SumPlane)(plane, height, width, out);
}

void add_products(const float* a, const float* b, int height, int width, double* out) {
  HWY_DYNAMIC_DISPATCH(AddProducts)(a, b, height, width, out);
}

}  // namespace millrace::latents
#endif
