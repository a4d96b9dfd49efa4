#include "src/kernels/ink/pixels.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "src/kernels/ink/stream_copy.h"

namespace millrace::ink {
namespace {

void fill(std::uint8_t* out, std::size_t pixels, std::span<const std::uint8_t> pixel) {
  if (pixels == 0) return;
  const std::size_t bytes = pixels * pixel.size();
  std::copy(pixel.begin(), pixel.end(), out);
  // What is there already is copied, twice as much each time.
  for (std::size_t done = pixel.size(); done < bytes; done *= 2) {
    std::memcpy(out + done, out, std::min(done, bytes - done));
  }
}

// Sets bits [begin, end) of a row whose first pixel is the highest bit of its first byte.
void set_bits(std::uint8_t* row, std::size_t begin, std::size_t end) {
  for (; begin < end && begin % 8 != 0; ++begin) row[begin / 8] |= static_cast<std::uint8_t>(128U >> begin % 8);
  for (; begin + 8 <= end; begin += 8) row[begin / 8] = 255;
  for (; begin < end; ++begin) row[begin / 8] |= static_cast<std::uint8_t>(128U >> begin % 8);
}

}  // namespace

Palette palette(Colour paper, Colour ink) {
  const Tones red = tones(paper.red, ink.red), green = tones(paper.green, ink.green),
              blue = tones(paper.blue, ink.blue);
  Palette out;
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = {red[k], green[k], blue[k]};
  return out;
}

Pixels pixels(const Palette& palette, int channels, Depth depth) {
  Pixels out;
  const auto count = static_cast<std::size_t>(channels), each = depth == Depth::floats ? sizeof(float) : 1;
  out.bytes = count * each;
  for (std::size_t k = 0; k < palette.size(); ++k) {
    const std::array<std::uint8_t, 3> values = {palette[k].red, palette[k].green, palette[k].blue};
    for (std::size_t c = 0; c < count; ++c) {
      if (depth == Depth::bytes) {
        out.level[k][c] = values[c];
        continue;
      }
      const float value = static_cast<float>(values[c]) / 255.0F;
      static_assert(std::endian::native == std::endian::little);
      std::memcpy(&out.level[k][c * each], &value, each);
    }
  }
  return out;
}

Pixels pixels(const Tones& tones) {
  Pixels out;
  for (std::size_t k = 0; k < tones.size(); ++k) out.level[k][0] = tones[k];
  return out;
}

namespace {

Tones tones_of(const Pixels& pixels) {
  Tones out;
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = pixels.level[k][0];
  return out;
}

// Pixels of several bytes.
void paint_rows(const Picture& picture, const Pixels& pixels, int begin, int end, std::uint8_t* out) {
  const auto width = static_cast<std::size_t>(picture.width());
  for (int y = begin; y < end; ++y, out += width * pixels.bytes) {
    fill(out, width, pixels.of(0));
    const std::uint8_t* level = picture.levels(y);
    for (const Span& span : picture.row(y)) {
      std::uint8_t* at = out + span.x * pixels.bytes;
      for (std::size_t i = 0; i < span.literals; ++i, at += pixels.bytes) {
        std::memcpy(at, pixels.level[level[i]].data(), pixels.bytes);
      }
      level += span.literals;
      fill(at, span.run, pixels.of(span.level));
    }
  }
}

}  // namespace

void paint(const Picture& picture, const Pixels& pixels, std::uint8_t* out) {
  if (pixels.bytes == 1) return paint(picture, tones_of(pixels), out);
  paint_rows(picture, pixels, 0, picture.height(), out);
}

void paint_past_caches(const Picture& picture, const Pixels& pixels, std::uint8_t* out) {
  // A few rows at a time, which stay in a core's own cache until they are copied.
  constexpr std::size_t kTogether = 16 << 10;
  const std::size_t row = static_cast<std::size_t>(picture.width()) * pixels.bytes;
  const int rows = static_cast<int>(std::max<std::size_t>(1, kTogether / row));
  std::vector<std::uint8_t> staged(static_cast<std::size_t>(rows) * row);
  const Tones tones = tones_of(pixels);
  for (int y = 0; y < picture.height(); y += rows) {
    const int end = std::min(picture.height(), y + rows);
    if (pixels.bytes == 1) {
      paint_rows(picture, tones, y, end, staged.data());
    } else {
      paint_rows(picture, pixels, y, end, staged.data());
    }
    const std::size_t bytes = static_cast<std::size_t>(end - y) * row;
    stream_copy(staged.data(), bytes, out);
    out += bytes;
  }
}

void paint_end() { stream_end(); }

BitPacker::BitPacker(const Tones& tones) : paper_(tones[0] >= 128 ? 255 : 0) {
  for (std::size_t k = 0; k < 256; ++k) {
    differs_[k] = (tones[k] >= 128) != (tones[0] >= 128);
    // A level of the packed picture is what differs from paper.
    pixels_.level[k][0] = static_cast<std::uint8_t>(paper_ ^ k);
  }
}

void BitPacker::pack(const Picture& picture, Picture& out) {
  const auto width = static_cast<std::size_t>(picture.width()), bytes = (width + 7) / 8, words = (bytes + 7) / 8;
  if (row_.size() < words) {
    row_.resize(words);
    std::memset(row_.data(), 0, row_.size() * sizeof(std::uint64_t));
  }
  auto* row = reinterpret_cast<std::uint8_t*>(row_.data());
  out.begin(static_cast<int>(bytes), picture.height());
  for (int y = 0; y < picture.height(); ++y) {
    const std::uint8_t* level = picture.levels(y);
    for (const Span& span : picture.row(y)) {
      std::size_t x = span.x;
      for (std::size_t i = 0; i < span.literals; ++i, ++x) {
        if (differs_[level[i]]) row[x / 8] |= static_cast<std::uint8_t>(128U >> x % 8);
      }
      level += span.literals;
      if (differs_[span.level]) set_bits(row, x, x + span.run);
    }
    // The bits that fill the last byte are 0, whatever paper is.
    if (paper_ != 0 && width % 8 != 0) row[bytes - 1] |= static_cast<std::uint8_t>(255U >> width % 8);
    out.begin_row();
    for (std::size_t w = 0; w < words; ++w) {
      if (row_[w] == 0) continue;
      for (std::size_t i = 8 * w; i < std::min(bytes, 8 * w + 8); ++i) {
        if (row[i] != 0) out.add_literal(static_cast<int>(i), row[i]);
      }
      row_[w] = 0;
    }
  }
  out.finish();
}

}  // namespace millrace::ink
