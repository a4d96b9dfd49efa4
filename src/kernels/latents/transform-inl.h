// Fourier transforms of many lines at once, a line per lane; included once per target, inside foreach_target's passes.
#if defined(MILLRACE_LATENTS_TRANSFORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MILLRACE_LATENTS_TRANSFORM_INL_H_
#undef MILLRACE_LATENTS_TRANSFORM_INL_H_
#else
#define MILLRACE_LATENTS_TRANSFORM_INL_H_
#endif

#include "src/kernels/latents/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::latents::HWY_NAMESPACE {

// Vector type for lines of float or double, and the number of lines side by side.
template <typename T>
struct LineOf;
template <>
struct LineOf<float> {
  using V = Lanes;
  static constexpr std::size_t kEach = kLanes;
};
template <>
struct LineOf<double> {
  using V = Halves;
  static constexpr std::size_t kEach = kLanes / 2;
};

// Folds `kRows` rows that lie `stride` apart into the terms of all parts: [part][term][row]; parts lie `part_stride`
// apart. The order is that of the plan's parts: cosines and sines of all bins, or of the even ones and then of the odd
// ones.
template <typename T, std::size_t kRows>
HWY_INLINE void Fold(const RowTransform<T>& plan, const T* from, std::size_t stride, T* terms,
                     std::size_t part_stride) {
  using V = typename LineOf<T>::V;
  constexpr std::size_t kEach = LineOf<T>::kEach, kTerm = kRows * kEach;
  const bool even = plan.width % 2 == 0;
  const std::size_t period = even ? plan.width / 2 : plan.width, pairs = (period - 1) / 2;
  T *const cosines = terms, *const sines = terms + part_stride, *const odd_cosines = terms + 2 * part_stride,
           *const odd_sines = terms + 3 * part_stride;
  for (std::size_t r = 0; r < kRows; ++r) {
    const T* const row = from + r * stride;
    const auto column = [&](std::size_t n) HWY_ATTR { return V::at(row + n * kEach); };
    const std::size_t to = r * kEach;
    if (!even) {
      column(0).put(cosines + to);
      for (std::size_t n = 1; n <= pairs; ++n) {
        const V near = column(n), mirrored = column(period - n);
        (near + mirrored).put(cosines + n * kTerm + to);
        (near - mirrored).put(sines + (n - 1) * kTerm + to);
      }
      continue;
    }
    (column(0) + column(period)).put(cosines + to);
    (column(0) - column(period)).put(odd_cosines + to);
    for (std::size_t n = 1; n <= pairs; ++n) {
      const V near = column(n), far = column(n + period), mirrored = column(period - n),
              far_mirrored = column(2 * period - n);
      const V sum = near + far, difference = near - far, mirrored_sum = mirrored + far_mirrored,
              mirrored_difference = mirrored - far_mirrored;
      (sum + mirrored_sum).put(cosines + n * kTerm + to);
      (sum - mirrored_sum).put(sines + (n - 1) * kTerm + to);
      (difference - mirrored_difference).put(odd_cosines + n * kTerm + to);
      (difference + mirrored_difference).put(odd_sines + (n - 1) * kTerm + to);
    }
    if (period % 2 == 1) continue;
    const std::size_t n = period / 2;
    (column(n) + column(n + period)).put(cosines + n * kTerm + to);
    (column(n) - column(n + period)).put(odd_sines + (n - 1) * kTerm + to);
  }
}

// Computes kBins sums over one part's terms, for kRows rows.
template <typename T, std::size_t kBins, std::size_t kRows>
HWY_INLINE void SumTerms(const T* weights, std::size_t count, const T* terms, T* to, std::size_t bin_stride) {
  using V = typename LineOf<T>::V;
  constexpr std::size_t kEach = LineOf<T>::kEach;
  V sums[kBins][kRows];
  for (std::size_t b = 0; b < kBins; ++b)
    for (std::size_t r = 0; r < kRows; ++r) sums[b][r] = V::all(0);
  for (std::size_t n = 0; n < count; ++n) {
    for (std::size_t b = 0; b < kBins; ++b) {
      const V weight = V::all(weights[b * count + n]);
      for (std::size_t r = 0; r < kRows; ++r)
        sums[b][r] = product_plus(weight, V::at(terms + (n * kRows + r) * kEach), sums[b][r]);
    }
  }
  for (std::size_t b = 0; b < kBins; ++b)
    for (std::size_t r = 0; r < kRows; ++r) sums[b][r].put(to + b * bin_stride + r * kEach);
}

// Sizes of tiles, in bins and in rows of float32: as many sums at once as there are registers for.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
constexpr std::size_t kBinTile = 5, kRowTile = 4;
#elif HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_NEON
constexpr std::size_t kBinTile = 3, kRowTile = 2;
#else
constexpr std::size_t kBinTile = 2, kRowTile = 1;
#endif

template <typename T, std::size_t kBins, std::size_t kRows>
HWY_INLINE void SumBins(const typename RowTransform<T>::Part& part, std::size_t& bin, const T* terms, T* to,
                        std::size_t step) {
  for (; bin + kBins <= part.bins; bin += kBins) {
    SumTerms<T, kBins, kRows>(part.weights.data() + bin * part.terms, part.terms, terms, to + bin * step, step);
  }
}

// Computes the bins of kRows rows: [bin][row], bins `bin_stride` apart.
template <typename T, std::size_t kRows>
HWY_INLINE void TransformRows(const RowTransform<T>& plan, const T* from, std::size_t stride, T* terms, T* re, T* im,
                              std::size_t bin_stride) {
  const std::size_t part_stride = plan.most_terms * kRows * LineOf<T>::kEach;
  Fold<T, kRows>(plan, from, stride, terms, part_stride);
  for (std::size_t i = 0; i < plan.parts.size(); ++i) {
    const auto& part = plan.parts[i];
    const T* const folded = terms + i * part_stride;
    const std::size_t step = part.step * bin_stride;
    T* const to = (part.imaginary ? im : re) + part.first * bin_stride;
    std::size_t bin = 0;
    SumBins<T, kBinTile, kRows>(part, bin, folded, to, step);
    if constexpr (kBinTile > 3) SumBins<T, 3, kRows>(part, bin, folded, to, step);
    SumBins<T, 1, kRows>(part, bin, folded, to, step);
  }
}

template <typename T>
struct Complex {
  typename LineOf<T>::V re, im;
  // A constructor that the compiler makes would not be compiled for the CPU level.
  HWY_INLINE Complex() {}
};

template <typename T>
HWY_INLINE void Butterfly2(Complex<T>* z) {
  const Complex<T> a = z[0], b = z[1];
  z[0].re = a.re + b.re;
  z[0].im = a.im + b.im;
  z[1].re = a.re - b.re;
  z[1].im = a.im - b.im;
}

template <typename T>
HWY_INLINE void Butterfly4(Complex<T>* z) {
  Complex<T> even[2], odd[2];
  even[0] = z[0];
  even[1] = z[2];
  odd[0] = z[1];
  odd[1] = z[3];
  Butterfly2<T>(even);
  Butterfly2<T>(odd);
  z[0].re = even[0].re + odd[0].re;
  z[0].im = even[0].im + odd[0].im;
  z[2].re = even[0].re - odd[0].re;
  z[2].im = even[0].im - odd[0].im;
  // Multiplies by -i.
  z[1].re = even[1].re + odd[1].im;
  z[1].im = even[1].im - odd[1].re;
  z[3].re = even[1].re - odd[1].im;
  z[3].im = even[1].im + odd[1].re;
}

// Butterfly of an odd radix: it needs only sums and differences of inputs that mirror each other.
template <typename T, std::size_t kRadix>
HWY_INLINE void ButterflyOdd(Complex<T>* z, const T* cosines, const T* sines) {
  using V = typename LineOf<T>::V;
  constexpr std::size_t kHalf = kRadix / 2;
  Complex<T> sum[kHalf], difference[kHalf];
  Complex<T> all = z[0];
  for (std::size_t q = 0; q < kHalf; ++q) {
    const Complex<T>&a = z[1 + q], &b = z[kRadix - 1 - q];
    sum[q].re = a.re + b.re;
    sum[q].im = a.im + b.im;
    difference[q].re = a.re - b.re;
    difference[q].im = a.im - b.im;
    all.re += sum[q].re;
    all.im += sum[q].im;
  }
  for (std::size_t k = 0; k < kHalf; ++k) {
    V near_re = z[0].re, near_im = z[0].im, turn_re = V::all(0), turn_im = V::all(0);
    for (std::size_t q = 0; q < kHalf; ++q) {
      const V c = V::all(cosines[k * kHalf + q]), s = V::all(sines[k * kHalf + q]);
      near_re = product_plus(c, sum[q].re, near_re);
      near_im = product_plus(c, sum[q].im, near_im);
      turn_re = product_plus(s, difference[q].re, turn_re);
      turn_im = product_plus(s, difference[q].im, turn_im);
    }
    z[1 + k].re = near_re + turn_im;
    z[1 + k].im = near_im - turn_re;
    z[kRadix - 1 - k].re = near_re - turn_im;
    z[kRadix - 1 - k].im = near_im + turn_re;
  }
  z[0] = all;
}

// Butterfly of any other radix: its inputs stay in memory, [radix][re, im].
template <typename T>
void ButterflyAny(const T* inputs, std::size_t radix, const T* cosines, const T* sines, T* re, T* im,
                  std::size_t stride) {
  using V = typename LineOf<T>::V;
  constexpr std::size_t kEach = LineOf<T>::kEach;
  const std::size_t half = radix / 2;
  const auto input = [&](std::size_t q, std::size_t part) HWY_ATTR { return V::at(inputs + (2 * q + part) * kEach); };
  V all_re = input(0, 0), all_im = input(0, 1);
  for (std::size_t q = 1; q < radix; ++q) {
    all_re += input(q, 0);
    all_im += input(q, 1);
  }
  all_re.put(re);
  all_im.put(im);
  for (std::size_t k = 1; k <= half; ++k) {
    V near_re = input(0, 0), near_im = input(0, 1), turn_re = V::all(0), turn_im = V::all(0);
    for (std::size_t q = 1; q <= half; ++q) {
      const std::size_t weight = (k - 1) * half + q - 1;
      const V c = V::all(cosines[weight]), s = V::all(sines[weight]);
      near_re = product_plus(c, input(q, 0) + input(radix - q, 0), near_re);
      near_im = product_plus(c, input(q, 1) + input(radix - q, 1), near_im);
      turn_re = product_plus(s, input(q, 0) - input(radix - q, 0), turn_re);
      turn_im = product_plus(s, input(q, 1) - input(radix - q, 1), turn_im);
    }
    (near_re + turn_im).put(re + k * stride);
    (near_im - turn_re).put(im + k * stride);
    (near_re - turn_im).put(re + (radix - k) * stride);
    (near_im + turn_re).put(im + (radix - k) * stride);
  }
}

template <typename T>
HWY_INLINE Complex<T> Turned(const Complex<T>& z, T cosine, T sine) {
  using V = typename LineOf<T>::V;
  const V c = V::all(cosine), s = V::all(sine), other_s = V::all(-sine);
  Complex<T> out;
  out.re = product_plus(z.im, other_s, z.re * c);
  out.im = product_plus(z.re, s, z.im * c);
  return out;
}

// Runs one step: transforms of length `before` become those of length before * radix, in Stockham's order, which needs
// no sorting in the end.
template <typename T, std::size_t kRadix>
HWY_INLINE void StepOf(const typename ColumnTransform<T>::Step& step, std::size_t height, const T* re, const T* im,
                       T* to_re, T* to_im) {
  using V = typename LineOf<T>::V;
  constexpr std::size_t kEach = LineOf<T>::kEach;
  const std::size_t before = step.before, blocks = height / (before * kRadix);
  for (std::size_t k = 0; k < blocks; ++k) {
    for (std::size_t j = 0; j < before; ++j) {
      Complex<T> z[kRadix];
      for (std::size_t q = 0; q < kRadix; ++q) {
        const std::size_t at = ((k + blocks * q) * before + j) * kEach;
        z[q].re = V::at(re + at);
        z[q].im = V::at(im + at);
        if (q > 0 && j > 0) {
          const T* const twiddle = step.twiddles.data() + 2 * (j * (kRadix - 1) + q - 1);
          z[q] = Turned<T>(z[q], twiddle[0], twiddle[1]);
        }
      }
      if constexpr (kRadix == 2) {
        Butterfly2<T>(z);
      } else if constexpr (kRadix == 4) {
        Butterfly4<T>(z);
      } else {
        ButterflyOdd<T, kRadix>(z, step.cosines.data(), step.sines.data());
      }
      for (std::size_t p = 0; p < kRadix; ++p) {
        const std::size_t at = (k * before * kRadix + j + before * p) * kEach;
        z[p].re.put(to_re + at);
        z[p].im.put(to_im + at);
      }
    }
  }
}

template <typename T>
void AnyStep(const typename ColumnTransform<T>::Step& step, std::size_t height, const T* re, const T* im, T* to_re,
             T* to_im, T* inputs) {
  using V = typename LineOf<T>::V;
  constexpr std::size_t kEach = LineOf<T>::kEach;
  const std::size_t before = step.before, radix = step.radix, blocks = height / (before * radix);
  for (std::size_t k = 0; k < blocks; ++k) {
    for (std::size_t j = 0; j < before; ++j) {
      for (std::size_t q = 0; q < radix; ++q) {
        const std::size_t at = ((k + blocks * q) * before + j) * kEach;
        Complex<T> z;
        z.re = V::at(re + at);
        z.im = V::at(im + at);
        if (q > 0 && j > 0) {
          const T* const twiddle = step.twiddles.data() + 2 * (j * (radix - 1) + q - 1);
          z = Turned<T>(z, twiddle[0], twiddle[1]);
        }
        z.re.put(inputs + 2 * q * kEach);
        z.im.put(inputs + (2 * q + 1) * kEach);
      }
      const std::size_t at = (k * before * radix + j) * kEach;
      ButterflyAny<T>(inputs, radix, step.cosines.data(), step.sines.data(), to_re + at, to_im + at, before * kEach);
    }
  }
}

// Transforms a column, from re, im through `other` and back, once per step; afterwards re, im are the result. `inputs`
// is for radices above 7: [height][re, im].
template <typename T>
HWY_INLINE void TransformColumn(const ColumnTransform<T>& plan, T*& re, T*& im, T*& other_re, T*& other_im, T* inputs) {
  for (const auto& step : plan.steps) {
    switch (step.radix) {
      case 2:
        StepOf<T, 2>(step, plan.height, re, im, other_re, other_im);
        break;
      case 3:
        StepOf<T, 3>(step, plan.height, re, im, other_re, other_im);
        break;
      case 4:
        StepOf<T, 4>(step, plan.height, re, im, other_re, other_im);
        break;
      case 5:
        StepOf<T, 5>(step, plan.height, re, im, other_re, other_im);
        break;
      case 7:
        StepOf<T, 7>(step, plan.height, re, im, other_re, other_im);
        break;
      default:
        AnyStep<T>(step, plan.height, re, im, other_re, other_im, inputs);
    }
    std::swap(re, other_re);
    std::swap(im, other_im);
  }
}

}  // namespace millrace::latents::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
