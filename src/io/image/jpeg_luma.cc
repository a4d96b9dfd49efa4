#include "src/io/image/jpeg_luma.h"

#include <algorithm>

namespace millrace {
namespace {

// Bytes before a row of chroma for the sample that repeats its first one. They keep the row aligned.
constexpr std::size_t kBefore = kAlignment;

// Returns the bytes of a row, with the bytes past its end that the kernels need, so that the next row is aligned.
std::size_t pitch_of(int n) {
  return (static_cast<std::size_t>(n) + kYccBeyond + kAlignment - 1) / kAlignment * kAlignment;
}

bool all_128(const std::uint8_t* row, int count) {
  return std::all_of(row, row + count, [](std::uint8_t v) { return v == 128; });
}

}  // namespace

bool JpegLuma::supports(const jpeg_decompress_struct& info) {
  if (info.num_components != 3 || info.jpeg_color_space != JCS_YCbCr) return false;
  const auto sampled = [&](int c, int factor) {
    return info.comp_info[c].h_samp_factor == factor && info.comp_info[c].v_samp_factor == factor;
  };
  // libjpeg does not interpolate the chroma of narrower pictures.
  return sampled(0, 2) && sampled(1, 1) && sampled(2, 1) && info.image_width > 4;
}

JpegLuma::JpegLuma(int width, int height)
    : width_(width),
      height_(height),
      chroma_width_((width + 1) / 2),
      chroma_height_((height + 1) / 2),
      strips_((height + kStripRows - 1) / kStripRows),
      luma_pitch_(pitch_of(width)),
      chroma_pitch_(kBefore + pitch_of(chroma_width_ + 1)) {
  luma_.resize(luma_rows_ * luma_pitch_);
  for (auto* plane : {&cb_, &cr_, &reach_}) plane->resize(chroma_rows_ * chroma_pitch_);
  planes_ = {y_rows_.data(), cb_rows_.data(), cr_rows_.data()};
}

std::uint8_t* JpegLuma::plane_row(Buffer<std::uint8_t>& plane, int row) {
  return plane.data() + static_cast<std::size_t>(row) % chroma_rows_ * chroma_pitch_ + kBefore;
}

ChromaRow JpegLuma::chroma_row(int row) const {
  // Above the first row and below the last, libjpeg repeats them.
  const auto real = static_cast<std::size_t>(std::clamp(row, 0, chroma_height_ - 1));
  const std::size_t at = real % chroma_rows_ * chroma_pitch_ + kBefore;
  return {cb_.data() + at, cr_.data() + at, reach_.data() + at};
}

JSAMPIMAGE JpegLuma::next() {
  for (int r = 0; r < kStripRows; ++r) y_rows_[static_cast<std::size_t>(r)] = luma_row(added_ * kStripRows + r);
  for (int r = 0; r < DCTSIZE; ++r) {
    cb_rows_[static_cast<std::size_t>(r)] = plane_row(cb_, added_ * DCTSIZE + r);
    cr_rows_[static_cast<std::size_t>(r)] = plane_row(cr_, added_ * DCTSIZE + r);
  }
  return planes_.data();
}

void JpegLuma::mark_strip_added() {
  for (int r = added_ * DCTSIZE; r < std::min((added_ + 1) * DCTSIZE, chroma_height_); ++r) {
    for (auto* plane : {&cb_, &cr_}) {
      std::uint8_t* row = plane_row(*plane, r);
      row[-1] = row[0];
      row[chroma_width_] = row[chroma_width_ - 1];
    }
    chroma_reach(plane_row(cb_, r), plane_row(cr_, r), plane_row(reach_, r), chroma_width_);
  }
  ++added_;
}

bool JpegLuma::empty(int strip) {
  for (int r = strip * DCTSIZE; r < std::min((strip + 1) * DCTSIZE, chroma_height_); ++r) {
    if (!all_128(plane_row(cb_, r), chroma_width_) || !all_128(plane_row(cr_, r), chroma_width_)) return false;
  }
  for (int r = strip * kStripRows; r < std::min((strip + 1) * kStripRows, height_); ++r) {
    if (!all_128(luma_row(r), width_)) return false;
  }
  return true;
}

JpegLuma::Rows JpegLuma::finish() {
  if (finished_ == added_) return {};
  Rows rows;
  const int first = finished_ * kStripRows;
  rows.data = luma_row(first);
  rows.stride = static_cast<std::ptrdiff_t>(luma_pitch_);
  rows.count = std::min(kStripRows, height_ - first);
  if (needs_strip()) rows.count -= 2;
  rows.empty = empty(finished_);
  for (int y = first; y < first + rows.count; ++y) {
    const int beside = y % 2 == 0 ? y / 2 - 1 : y / 2 + 1;
    luma_from_ycc420(luma_row(y), chroma_row(y / 2), chroma_row(beside), width_);
  }
  ++finished_;
  return rows;
}

}  // namespace millrace
