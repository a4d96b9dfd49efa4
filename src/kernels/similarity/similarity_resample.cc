#include <array>
#include <cstring>
#include <span>

#include "src/kernels/similarity/similarity_steps.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/similarity/similarity_resample.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "src/kernels/floats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::similarity::HWY_NAMESPACE {
using floats::HWY_NAMESPACE::Floats;
namespace {

// Works in lots of 256 points: first their positions, then their gathered neighbours, then the interpolated values.
// Otherwise vectors that are read soon after their parts were written would wait for them.
template <int N>
HWY_INLINE void resample_at(std::span<const float* const> images, const Warp& warp, std::span<float* const> values,
                            float* inside) {
  using Row = Floats<16>;
  constexpr float n = static_cast<float>(N);
  constexpr std::size_t kLot = 256;
  const auto& m = warp.m;
  alignas(64) std::array<std::int32_t, kLot> place;
  alignas(64) std::array<float, kLot> across, down;
  alignas(64) std::array<float, 2 * kLot> upper, lower;
  const float dx = m[1] * n, dy = m[4] * n;
  for (std::size_t begin = 0; begin < std::size_t{N} * N; begin += kLot) {
    for (std::size_t k = 0; k < kLot; k += 16) {
      const std::size_t x = (begin + k) % N, y = (begin + k) / N;
      const float ry = kMiddlesOf<N>[y];
      const Row rx = Row::at(kMiddlesOf<N>.data() + x);
      const Row px = Row::all((m[0] + m[2] * ry + 0.5F) * n - 0.5F) + Row::all(dx) * rx;
      const Row py = Row::all((m[3] + m[5] * ry + 0.5F) * n - 0.5F) + Row::all(dy) * rx;
      const Row hx = lesser(greater(px, Row::all(0)), Row::all(n - 1));
      const Row hy = lesser(greater(py, Row::all(0)), Row::all(n - 1));
      const Row ix = lesser(whole(hx), Row::all(n - 2)), iy = lesser(whole(hy), Row::all(n - 2));
      (iy * Row::all(n) + ix).put(place.data() + k);
      (hx - ix).put(across.data() + k);
      (hy - iy).put(down.data() + k);
      (between(px, -0.5F, n - 0.5F) * between(py, -0.5F, n - 0.5F)).put(inside + begin + k);
    }
    for (std::size_t image = 0; image < images.size(); ++image) {
      for (std::size_t k = 0; k < kLot; ++k) {
        const float* p = images[image] + place[k];
        std::memcpy(upper.data() + 2 * k, p, 2 * sizeof(float));
        std::memcpy(lower.data() + 2 * k, p + N, 2 * sizeof(float));
      }
      for (std::size_t k = 0; k < kLot; k += 16) {
        Row left, right;
        const Row qx = Row::at(across.data() + k), qy = Row::at(down.data() + k);
        Row::pairs_at(upper.data() + 2 * k, left, right);
        const Row above = left + qx * (right - left);
        Row::pairs_at(lower.data() + 2 * k, left, right);
        const Row below = left + qx * (right - left);
        (above + qy * (below - above)).put(values[image] + begin + k);
      }
    }
  }
}

}  // namespace

void Resample32(std::span<const float* const> images, const Warp& warp, std::span<float* const> values, float* inside) {
  resample_at<32>(images, warp, values, inside);
}
void Resample64(std::span<const float* const> images, const Warp& warp, std::span<float* const> values, float* inside) {
  resample_at<64>(images, warp, values, inside);
}

}  // namespace millrace::similarity::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::similarity {
namespace {

HWY_EXPORT(Resample32);
HWY_EXPORT(Resample64);

// True if `at` lies on an edge of a frame: half a pixel outside of it, `width` pixels inside.
template <int N>
bool on_edge(float at, float low, float high) {
  // At 32 the luma is blurred by a pixel.
  // docs/design/similarity.md gives the reasons for the constants of this file.
  constexpr float kWidth = (N == 32 ? 2.0F : 1.5F) / static_cast<float>(N);
  constexpr float kOutside = 0.5F / static_cast<float>(N);
  return (low > -0.5F && at > low - kOutside && at < low + kWidth) ||
         (high < 0.5F && at < high + kOutside && at > high - kWidth);
}

template <int N>
void leave_out_frame_edges(const Frames& frames, const Warp& warp, Plane<N>& inside) {
  const auto& m = warp.m;
  for (int y = 0; y < N; ++y) {
    const float ry = (static_cast<float>(y) + 0.5F) / static_cast<float>(N) - 0.5F;
    for (int x = 0; x < N; ++x) {
      const float rx = (static_cast<float>(x) + 0.5F) / static_cast<float>(N) - 0.5F;
      const float bx = m[0] + m[1] * rx + m[2] * ry, by = m[3] + m[4] * rx + m[5] * ry;
      if (on_edge<N>(rx, frames.a[0], frames.a[2]) || on_edge<N>(ry, frames.a[1], frames.a[3]) ||
          on_edge<N>(bx, frames.b[0], frames.b[2]) || on_edge<N>(by, frames.b[1], frames.b[3])) {
        inside.data()[y * N + x] = 0;
      }
    }
  }
}

}  // namespace

Frames::Frames(const Features& first, const Features& second) : a(first.content), b(second.content) {
  for (const auto* content : {&a, &b}) {
    any = any || (*content)[0] > -0.5F || (*content)[1] > -0.5F || (*content)[2] < 0.5F || (*content)[3] < 0.5F;
  }
}

template <int N>
void resample(const Plane<N>& image, const Frames& frames, const Warp& warp, Plane<N>& values, Plane<N>& inside) {
  const float* from = image.data();
  float* to = values.data();
  if constexpr (N == 32) {
    HWY_DYNAMIC_DISPATCH(Resample32)({&from, 1}, warp, {&to, 1}, inside.data());
  } else {
    HWY_DYNAMIC_DISPATCH(Resample64)({&from, 1}, warp, {&to, 1}, inside.data());
  }
  if (frames.any) leave_out_frame_edges<N>(frames, warp, inside);
}
template void resample<32>(const Plane<32>&, const Frames&, const Warp&, Plane<32>&, Plane<32>&);
template void resample<64>(const Plane<64>&, const Frames&, const Warp&, Plane<64>&, Plane<64>&);

void resample_channels(const std::array<Plane<32>, 3>& images, const Warp& warp, std::array<Plane<32>, 3>& values,
                       Plane<32>& inside) {
  const std::array<const float*, 3> from = {images[0].data(), images[1].data(), images[2].data()};
  const std::array<float*, 3> to = {values[0].data(), values[1].data(), values[2].data()};
  HWY_DYNAMIC_DISPATCH(Resample32)(from, warp, to, inside.data());
}

}  // namespace millrace::similarity
#endif
