#include "src/jobs/video/compositor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "src/base/parse_values.h"
#include "src/base/text.h"
#include "src/jobs/video/background.h"

namespace millrace::video {
namespace {

using video_file::ColorModel;
using video_file::FrameLayout;
using video_file::FrameShape;

// Factor by which a frame is reduced and enlarged again: the result is too blurred to recognize anything.
constexpr std::int32_t kBlurBy = 24;

std::int32_t even(std::int32_t n) { return n + n % 2; }

}  // namespace

FrameShape make_shown_shape(ShownContent show, FrameShape shape) {
  if (show == ShownContent::files) {
    FrameShape out;
    out.width = shape.width;
    out.height = shape.height;
    out.kind = ColorModel::gray;
    out.colors.range = video_file::ColorRange::full;
    return out;
  }
  if (show == ShownContent::mask || show == ShownContent::background) shape.alpha = 0;
  // The right image begins at a whole chroma sample.
  if (show == ShownContent::side_by_side) {
    shape.alpha = 0;
    shape.width = 2 * (shape.log2_cw > 0 ? (shape.width + 3) / 4 * 4 : even(shape.width));
  }
  if (show == ShownContent::alpha) shape.alpha = 1;
  return shape;
}

Compositor::Compositor(const Composition& how, RunContext& context)
    : how_(how),
      video_(video_file::layout_of(how.film)),
      shown_(video_file::layout_of(how.shown)),
      made_(video_file::layout_of(how.made)) {
  using video_file::Converter;
  black_ = make_level_planes(0, black_rows_);
  white_ = make_level_planes(1, white_rows_);
  if (how_.made != how_.shown) {
    to_made_.emplace(how_.shown, how_.made, Converter::Filter::bicubic);
  }
  if (how_.show == ShownContent::overlay) color_ = make_flat_planes(how_.tint, color_rows_);
  if (how_.show != ShownContent::background) return;
  if (how_.background == kBlur) {
    small_ = how_.film;
    small_.width = std::max(how_.film.width / kBlurBy, 1) << how_.film.log2_cw;
    small_.height = std::max(how_.film.height / kBlurBy, 1) << how_.film.log2_ch;
    to_small_.emplace(how_.film, small_, Converter::Filter::bilinear);
    to_large_.emplace(small_, how_.film, Converter::Filter::bicubic);
  } else if (const auto color = parse_color(how_.background)) {
    color_ = make_flat_planes(*color, color_rows_);
  } else {
    background_ = read_background(how_.background, how_.film, how_.rotation, context);
    color_ = planes_of(background_.data(), video_);
  }
}

Compositor::Planes Compositor::planes_of(const std::uint8_t* picture, const FrameLayout& layout) {
  Planes out;
  for (std::size_t p = 0; p < out.data.size(); ++p) {
    out.data[p] = picture + layout.offset[p];
    out.stride[p] = layout.stride[p];
  }
  return out;
}

Compositor::Planes Compositor::make_flat_planes(const std::array<std::uint8_t, 3>& color,
                                                std::vector<std::vector<std::uint8_t>>& rows) const {
  const Buffer<std::uint8_t> samples = video_file::make_samples(color, how_.film);
  FrameShape sample = how_.film;
  sample.width = sample.height = video_file::kSampleSide;
  const FrameLayout layout = video_file::layout_of(sample);
  const std::size_t bytes = how_.film.sample_bytes();
  Planes out;
  rows.resize(how_.film.color_planes());
  for (std::uint32_t p = 0; p < how_.film.color_planes(); ++p) {
    const auto width = static_cast<std::size_t>(how_.film.plane_width(p));
    rows[p].resize(width * bytes);
    for (std::size_t x = 0; x < width; ++x)
      std::memcpy(rows[p].data() + x * bytes, samples.data() + layout.offset[p], bytes);
    out.data[p] = rows[p].data();
  }
  return out;
}

// Returns planes of mask value 0 or 1: the lowest or highest sample value of the video's range, whatever luminance that
// represents.
Compositor::Planes Compositor::make_level_planes(std::uint32_t value,
                                                 std::vector<std::vector<std::uint8_t>>& rows) const {
  const FrameShape& shape = how_.film;
  const bool full = shape.colors.range == video_file::ColorRange::full || shape.kind == ColorModel::rgb;
  const std::uint32_t most = (1U << shape.depth) - 1, shift = shape.depth - 8;
  const std::uint32_t luma = value == 0 ? (full ? 0 : 16U << shift) : full ? most : 235U << shift;
  Planes out;
  rows.resize(shape.color_planes());
  for (std::uint32_t p = 0; p < shape.color_planes(); ++p) {
    const std::uint32_t sample = shape.is_chroma(p) ? 128U << shift : luma;
    const auto width = static_cast<std::size_t>(shape.plane_width(p));
    rows[p].resize(width * shape.sample_bytes());
    for (std::size_t x = 0; x < width; ++x)
      std::memcpy(rows[p].data() + x * shape.sample_bytes(), &sample, shape.sample_bytes());
    out.data[p] = rows[p].data();
  }
  return out;
}

Compositor::Planes Compositor::blurred(const std::uint8_t* picture, Workspace& workspace) const {
  workspace.small.resize(video_file::layout_of(small_).bytes);
  workspace.blurred.resize(video_.bytes);
  to_small_->convert(picture, workspace.small.data(), workspace.converting);
  to_large_->convert(workspace.small.data(), workspace.blurred.data(), workspace.converting);
  return planes_of(workspace.blurred.data(), video_);
}

template <typename T>
void Compositor::blend_into(const Planes& back, const Planes& front, const std::uint16_t* mask, int halvings,
                            std::int32_t left, std::uint8_t* out, Workspace& workspace) const {
  const FrameShape& shape = how_.film;
  const auto width = static_cast<std::size_t>(shape.width);
  const std::int32_t lines = 1 << (shape.kind == ColorModel::yuv ? shape.log2_ch : 0);
  const int columns = 1 << (shape.kind == ColorModel::yuv ? shape.log2_cw : 0);
  if (!workspace.enlarger) workspace.enlarger.emplace(how_.mask_width, how_.mask_height, shape.width, shape.height);
  workspace.enlarger->begin(mask);
  workspace.rows.resize(static_cast<std::size_t>(lines) * width);
  workspace.chroma.resize(width);
  const auto blend_row = [&](std::uint32_t p, std::int32_t y, const std::uint16_t* row) {
    const auto at = static_cast<std::size_t>(y);
    const auto begin = static_cast<std::size_t>(how_.shown.is_chroma(p) ? left >> shape.log2_cw : left);
    masks::blend(reinterpret_cast<const T*>(back.data[p] + at * back.stride[p]),
                 reinterpret_cast<const T*>(front.data[p] + at * front.stride[p]), row,
                 reinterpret_cast<T*>(out + shown_.offset[p] + at * shown_.stride[p]) + begin,
                 static_cast<std::size_t>(shape.plane_width(p)));
  };
  for (std::int32_t y = 0; y < shape.height; y += lines) {
    const std::int32_t there = std::min(lines, shape.height - y);
    for (std::int32_t k = 0; k < there; ++k) {
      std::uint16_t* row = workspace.rows.data() + static_cast<std::size_t>(k) * width;
      workspace.enlarger->row(y + k, row);
      if (how_.show == ShownContent::alpha) {
        // The alpha plane is always in full range, as encoders expect it.
        const auto most = static_cast<std::int64_t>((1U << how_.shown.depth) - 1);
        T* to = reinterpret_cast<T*>(out + shown_.offset[shape.color_planes()] +
                                     static_cast<std::size_t>(y + k) * shown_.stride[shape.color_planes()]);
        for (std::size_t x = 0; x < width; ++x) to[x] = static_cast<T>((row[x] * most + masks::kOne / 2) / masks::kOne);
        continue;
      }
      if (halvings > 0)
        for (std::size_t x = 0; x < width; ++x) row[x] = static_cast<std::uint16_t>(row[x] >> halvings);
      blend_row(0, y + k, row);
      if (shape.kind == ColorModel::rgb) {
        blend_row(1, y + k, row);
        blend_row(2, y + k, row);
      }
    }
    if (shape.kind != ColorModel::yuv || how_.show == ShownContent::alpha) continue;
    const std::uint16_t* above = workspace.rows.data();
    const std::uint16_t* below = above + static_cast<std::size_t>(there - 1) * width;
    if (columns > 1 || there > 1) {
      masks::shrink(above, below, columns, workspace.chroma.data(), width);
      above = workspace.chroma.data();
    }
    blend_row(1, y >> shape.log2_ch, above);
    blend_row(2, y >> shape.log2_ch, above);
  }
}

void Compositor::copy_input(const std::uint8_t* picture, bool alpha, std::uint8_t* out) const {
  const std::uint32_t planes = how_.film.color_planes() + (alpha ? how_.film.alpha : 0);
  for (std::uint32_t p = 0; p < planes; ++p) {
    const std::size_t row = static_cast<std::size_t>(how_.film.plane_width(p)) * how_.film.sample_bytes();
    if (video_.stride[p] == shown_.stride[p]) {
      std::memcpy(out + shown_.offset[p], picture + video_.offset[p],
                  video_.stride[p] * static_cast<std::size_t>(how_.film.plane_height(p)));
      continue;
    }
    for (std::size_t y = 0; y < static_cast<std::size_t>(how_.film.plane_height(p)); ++y)
      std::memcpy(out + shown_.offset[p] + y * shown_.stride[p], picture + video_.offset[p] + y * video_.stride[p],
                  row);
  }
}

template <typename T>
void Compositor::compose_as(const std::uint8_t* picture, const std::uint16_t* mask, std::uint8_t* out,
                            Workspace& workspace) const {
  const Planes from = planes_of(picture, video_);
  switch (how_.show) {
    case ShownContent::film:
      return copy_input(picture, true, out);
    case ShownContent::files:
      return;
    case ShownContent::mask:
      return blend_into<T>(black_, white_, mask, 0, 0, out, workspace);
    case ShownContent::overlay:
      if (how_.film.alpha != 0) copy_input(picture, true, out);
      return blend_into<T>(from, color_, mask, 1, 0, out, workspace);
    case ShownContent::side_by_side: {
      // Odd sides leave a gap between the two images; it is filled with black.
      for (std::uint32_t p = 0; p < how_.film.color_planes(); ++p)
        for (std::int32_t y = 0; y < how_.film.plane_height(p); ++y) {
          T* row = reinterpret_cast<T*>(out + shown_.offset[p] + static_cast<std::size_t>(y) * shown_.stride[p]);
          const auto black = *reinterpret_cast<const T*>(black_.data[p]);
          std::fill(row + how_.film.plane_width(p), row + how_.shown.plane_width(p), black);
        }
      copy_input(picture, false, out);
      return blend_into<T>(black_, white_, mask, 0, how_.shown.width / 2, out, workspace);
    }
    case ShownContent::alpha:
      copy_input(picture, false, out);
      return blend_into<T>(from, from, mask, 0, 0, out, workspace);
    case ShownContent::background:
      return blend_into<T>(to_small_ ? blurred(picture, workspace) : color_, from, mask, 0, 0, out, workspace);
  }
}

// Converts the colors, and the alpha plane separately: alpha is in full range, whatever range the colors have.
void Compositor::convert(const std::uint8_t* shown, std::uint8_t* out, Workspace& workspace) const {
  to_made_->convert(shown, out, workspace.converting);
  if (how_.made.alpha == 0) return;
  const std::uint32_t p = how_.shown.color_planes(), q = how_.made.color_planes();
  const std::uint64_t most = (1U << how_.shown.depth) - 1, wanted = (1U << how_.made.depth) - 1;
  const auto width = static_cast<std::size_t>(how_.shown.width);
  for (std::size_t y = 0; y < static_cast<std::size_t>(how_.shown.height); ++y) {
    const std::uint8_t* from = shown + shown_.offset[p] + y * shown_.stride[p];
    std::uint8_t* to = out + made_.offset[q] + y * made_.stride[q];
    for (std::size_t x = 0; x < width; ++x) {
      const std::uint64_t value = how_.shown.depth > 8 ? reinterpret_cast<const std::uint16_t*>(from)[x] : from[x];
      const std::uint64_t scaled = (value * wanted + most / 2) / most;
      if (how_.made.depth > 8) {
        reinterpret_cast<std::uint16_t*>(to)[x] = static_cast<std::uint16_t>(scaled);
      } else {
        to[x] = static_cast<std::uint8_t>(scaled);
      }
    }
  }
}

// Writes the mask in 8 bits, at the size of the video's frames.
void Compositor::write_mask(const std::uint16_t* mask, std::uint8_t* out, Workspace& workspace) const {
  if (!workspace.enlarger)
    workspace.enlarger.emplace(how_.mask_width, how_.mask_height, how_.film.width, how_.film.height);
  workspace.enlarger->begin(mask);
  const auto width = static_cast<std::size_t>(how_.film.width);
  workspace.rows.resize(width);
  for (std::int32_t y = 0; y < how_.film.height; ++y) {
    workspace.enlarger->row(y, workspace.rows.data());
    std::uint8_t* row = out + shown_.offset[0] + static_cast<std::size_t>(y) * shown_.stride[0];
    for (std::size_t x = 0; x < width; ++x)
      row[x] = static_cast<std::uint8_t>((workspace.rows[x] * 255 + masks::kOne / 2) / masks::kOne);
  }
}

void Compositor::compose(const std::uint8_t* picture, const std::uint16_t* mask, std::uint8_t* out,
                         Workspace& workspace) const {
  if (how_.show == ShownContent::files) return write_mask(mask, out, workspace);
  std::uint8_t* shown = out;
  if (to_made_) {
    workspace.shown.resize(shown_.bytes);
    shown = workspace.shown.data();
  }
  if (how_.film.depth > 8) {
    compose_as<std::uint16_t>(picture, mask, shown, workspace);
  } else {
    compose_as<std::uint8_t>(picture, mask, shown, workspace);
  }
  if (to_made_) convert(shown, out, workspace);
}

}  // namespace millrace::video
