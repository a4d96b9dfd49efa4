// Input: strips of a 4:2:0 JPEG as its decoder holds them: 16 rows of Y and 8 of Cb and Cr.
// Output: the luma of the picture's RGB, strip by strip (src/kernels/ycc).
// Never: calls libjpeg; detects that a strip is damaged.
#pragma once

#include <cstddef>
#include <cstdio>

// jpeglib.h needs FILE and size_t declared before it.
#include <jpeglib.h>

#include <array>
#include <cstdint>
#include <vector>

#include "src/kernels/ycc/ycc.h"
#include "src/memory/buffer.h"

namespace millrace {

class JpegLuma {
 public:
  static constexpr int kStripRows = 2 * DCTSIZE;

  // True for a picture whose sampling this class supports, once its header was read.
  static bool supports(const jpeg_decompress_struct& info);

  JpegLuma(int width, int height);

  // next() returns the rows that the next strip is to be decoded into; mark_strip_added() reports that they are filled.
  JSAMPIMAGE next();
  void mark_strip_added();

  // True while finish() needs another strip: the last row of a strip is interpolated with chroma from the strip below.
  bool needs_strip() const { return added_ < strips_ && added_ < finished_ + 2; }

  // The next strip's rows of luma, `stride` apart, valid until the call after the next mark_strip_added(). When the
  // strip below will never come, the last two rows cannot be computed and are left out. `empty`: no sample differs from
  // 128, the value that the decoder fills in where it has no data.
  struct Rows {
    const std::uint8_t* data = nullptr;
    std::ptrdiff_t stride = 0;
    int count = 0;
    bool empty = true;
  };
  Rows finish();

 private:
  // Two strips of Y are kept at a time, and three of chroma, which is also needed from the strip before them.
  static constexpr int kLumaSlots = 2, kChromaSlots = 3;

  std::uint8_t* luma_row(int y) { return luma_.data() + static_cast<std::size_t>(y) % luma_rows_ * luma_pitch_; }
  ChromaRow chroma_row(int row) const;
  std::uint8_t* plane_row(Buffer<std::uint8_t>& plane, int row);
  bool empty(int strip);

  int width_, height_, chroma_width_, chroma_height_, strips_;
  int added_ = 0, finished_ = 0;
  std::size_t luma_rows_ = kLumaSlots * kStripRows, chroma_rows_ = kChromaSlots * DCTSIZE;
  std::size_t luma_pitch_, chroma_pitch_;
  Buffer<std::uint8_t> luma_, cb_, cr_, reach_;
  std::array<JSAMPROW, kStripRows> y_rows_{};
  std::array<JSAMPROW, DCTSIZE> cb_rows_{}, cr_rows_{};
  std::array<JSAMPARRAY, 3> planes_{};
};

}  // namespace millrace
