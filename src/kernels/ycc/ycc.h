// Input: rows of a 4:2:0 image as a JPEG stores them: Y, and Cb and Cr at half the size in both directions.
// Output: the luma of the RGB image that libjpeg-turbo would produce, without producing it.
// Never: reduces the image, or stores RGB.
//
// Definition. Chroma is interpolated like libjpeg's "fancy" upsampling: a pixel's nearer chroma row has weight 3 and
// the farther one weight 1, s = 3 near + far. Along the row likewise, (3 s[i] + s[i - 1] + 8) >> 4 left and (3 s[i] +
// s[i + 1] + 7) >> 4 right of sample i. With Cb and Cr minus 128 and FIX(c) = round(65536 c),
//   R = clip(Y + ((FIX(1.402) Cr + 32768) >> 16))
//   G = clip(Y + ((-FIX(0.34414) Cb - FIX(0.71414) Cr + 32768) >> 16))
//   B = clip(Y + ((FIX(1.772) Cb + 32768) >> 16))
// and luma is that of src/kernels/luma. Exact on every level.
//
// If no channel is clipped, that luma is Y itself: the three terms cancel for each of the 65,536 pairs of Cb and Cr. So
// the work is to find the pixels that may be clipped.
#pragma once

#include <cstdint>

namespace millrace {

// A row of chroma, ceil(width / 2) samples. The samples before the first and after the last one must repeat them. Every
// row that is passed here, also of Y, has kYccBeyond bytes past its end that may be read and overwritten.
inline constexpr int kYccBeyond = 64;
struct ChromaRow {
  const std::uint8_t* cb;
  const std::uint8_t* cr;
  const std::uint8_t* reach;  // from chroma_reach(), without samples before or after
};

// Computes for every sample an upper bound of |R - Y|, |G - Y| and |B - Y| in all pixels that use the sample.
void chroma_reach(const std::uint8_t* cb, const std::uint8_t* cr, std::uint8_t* reach, int samples);

// Replaces a row of `width` pixels of Y by luma, in place.
void luma_from_ycc420(std::uint8_t* y, const ChromaRow& near, const ChromaRow& far, int width);

// Computes the definition, one pixel at a time; does not read `reach`.
void luma_from_ycc420_reference(std::uint8_t* y, const ChromaRow& near, const ChromaRow& far, int width);

}  // namespace millrace
