// Input: rows of a 4:2:0 picture as a JPEG stores them: Y, and Cb and Cr at half the size both ways.
// Output: the luma of the RGB picture that libjpeg-turbo makes of them, without making it.
// Never: reduces, or writes RGB anywhere.
//
// Definition. Chroma is interpolated as libjpeg's "fancy" upsampling does: a pixel's nearer chroma row counts 3 and the
// farther 1, s = 3 near + far; then along the row likewise, (3 s[i] + s[i - 1] + 8) >> 4 left and
// (3 s[i] + s[i + 1] + 7) >> 4 right of sample i. With Cb and Cr less 128 and FIX(c) = round(65536 c),
//   R = clip(Y + ((FIX(1.402) Cr + 32768) >> 16))
//   G = clip(Y + ((-FIX(0.34414) Cb - FIX(0.71414) Cr + 32768) >> 16))
//   B = clip(Y + ((FIX(1.772) Cb + 32768) >> 16))
// and luma is that of src/kernels/luma. Exact on every level.
//
// Where nothing is clipped, that luma is Y itself: the three terms cancel for each of the 65,536 pairs of Cb and Cr. So
// the work is to find the pixels that may be clipped.
#pragma once

#include <cstdint>

namespace millrace {

// A row of chroma, ceil(width / 2) samples. One sample before the first and one after the last repeat them. Every row
// that is passed here, of Y too, has room for kYccBeyond bytes past its end, which may be read and overwritten.
inline constexpr int kYccBeyond = 64;
struct ChromaRow {
  const std::uint8_t* cb;
  const std::uint8_t* cr;
  const std::uint8_t* reach;  // of chroma_reach(); without neighbours
};

// For every sample: R, G and B are at most this far from Y wherever the sample takes part.
void chroma_reach(const std::uint8_t* cb, const std::uint8_t* cr, std::uint8_t* reach, int samples);

// Turns a row of `width` pixels of Y into luma, in place.
void luma_from_ycc420(std::uint8_t* y, const ChromaRow& near, const ChromaRow& far, int width);

// The definition, one pixel at a time; does not look at reach.
void luma_from_ycc420_reference(std::uint8_t* y, const ChromaRow& near, const ChromaRow& far, int width);

}  // namespace millrace
