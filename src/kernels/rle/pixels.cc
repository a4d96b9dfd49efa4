#include "src/kernels/rle/pixels.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "src/kernels/rle/stream_copy.h"

namespace millrace::rle {
namespace {

void fill(std::uint8_t* out, std::size_t pixels, std::span<const std::uint8_t> pixel) {
  if (pixels == 0) return;
  const std::size_t bytes = pixels * pixel.size();
  std::copy(pixel.begin(), pixel.end(), out);
  // The filled part is copied behind itself, doubling each time.
  for (std::size_t done = pixel.size(); done < bytes; done *= 2) {
    std::memcpy(out + done, out, std::min(done, bytes - done));
  }
}

// Bits of a row, 64 per word, the first pixel highest. Sets the `count` lowest of `bits` at pixel x; count is 1 to 64.
void put_bits(std::uint64_t* row, std::size_t x, std::uint64_t bits, std::size_t count) {
  const std::size_t used = x % 64 + count;
  std::uint64_t* word = row + x / 64;
  if (used <= 64) {
    *word |= bits << (64 - used);
  } else {
    word[0] |= bits >> (used - 64);
    word[1] |= bits << (128 - used);
  }
}

void set_bits(std::uint64_t* row, std::size_t begin, std::size_t end) {
  while (begin < end) {
    const std::size_t count = std::min(end - begin, 64 - begin % 64);
    put_bits(row, begin, ~std::uint64_t{0} >> (64 - count), count);
    begin += count;
  }
}

}  // namespace

ColourTable colour_table(Colour background, Colour foreground) {
  const GrayTable red = gray_table(background.red, foreground.red),
                  green = gray_table(background.green, foreground.green),
                  blue = gray_table(background.blue, foreground.blue);
  ColourTable out;
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = {red[k], green[k], blue[k]};
  return out;
}

EncodedLevels encoded_levels(const ColourTable& colours, int channels, SampleDepth depth) {
  EncodedLevels out;
  const auto count = static_cast<std::size_t>(channels), each = depth == SampleDepth::floats ? sizeof(float) : 1;
  out.bytes = count * each;
  for (std::size_t k = 0; k < colours.size(); ++k) {
    const std::array<std::uint8_t, 3> values = {colours[k].red, colours[k].green, colours[k].blue};
    for (std::size_t c = 0; c < count; ++c) {
      if (depth == SampleDepth::bytes) {
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

EncodedLevels encoded_levels(const GrayTable& grays) {
  EncodedLevels out;
  for (std::size_t k = 0; k < grays.size(); ++k) out.level[k][0] = grays[k];
  return out;
}

namespace {

GrayTable gray_table_of(const EncodedLevels& pixels) {
  GrayTable out;
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = pixels.level[k][0];
  return out;
}

// Paints pixels of several bytes.
void paint_rows(const Image& picture, const EncodedLevels& pixels, int begin, int end, std::uint8_t* out) {
  const auto width = static_cast<std::size_t>(picture.width());
  for (int y = begin; y < end; ++y, out += width * pixels.bytes) {
    fill(out, width, pixels.of(0));
    const std::uint8_t* level = picture.levels(y);
    for (const PixelRun& run : picture.row(y)) {
      std::uint8_t* at = out + run.x * pixels.bytes;
      for (std::size_t i = 0; i < run.literals; ++i, at += pixels.bytes) {
        std::memcpy(at, pixels.level[level[i]].data(), pixels.bytes);
      }
      level += run.literals;
      fill(at, run.repeats, pixels.of(run.level));
    }
  }
}

}  // namespace

void paint(const Image& picture, const EncodedLevels& pixels, std::uint8_t* out) {
  if (pixels.bytes == 1) return paint(picture, gray_table_of(pixels), out);
  paint_rows(picture, pixels, 0, picture.height(), out);
}

void paint_past_caches(const Image& picture, const EncodedLevels& pixels, Buffer<std::uint8_t>& memory,
                       std::uint8_t* out) {
  // A few rows are painted at a time, so that they stay in a core's own cache until they are copied.
  constexpr std::size_t kTogether = 16 << 10;
  const std::size_t row = static_cast<std::size_t>(picture.width()) * pixels.bytes;
  const int rows = static_cast<int>(std::max<std::size_t>(1, kTogether / row));
  memory.resize(static_cast<std::size_t>(rows) * row);
  const GrayTable grays = gray_table_of(pixels);
  for (int y = 0; y < picture.height(); y += rows) {
    const int end = std::min(picture.height(), y + rows);
    if (pixels.bytes == 1) {
      paint_rows(picture, grays, y, end, memory.data());
    } else {
      paint_rows(picture, pixels, y, end, memory.data());
    }
    const std::size_t bytes = static_cast<std::size_t>(end - y) * row;
    stream_copy(memory.data(), bytes, out);
    out += bytes;
  }
}

void paint_end() { stream_end(); }

BitPacker::BitPacker(const GrayTable& grays) : background_(grays[0] >= 128 ? 255 : 0) {
  for (std::size_t k = 0; k < 256; ++k) {
    differs_[k] = (grays[k] >= 128) != (grays[0] >= 128) ? 1 : 0;
    // A level of the packed image is the difference from the background, by exclusive or.
    pixels_.level[k][0] = static_cast<std::uint8_t>(background_ ^ k);
  }
}

void BitPacker::pack(const Image& picture, Image& out) {
  const auto width = static_cast<std::size_t>(picture.width()), bytes = (width + 7) / 8, words = (bytes + 7) / 8;
  if (row_.size() < words) {
    row_.resize(words);
    std::memset(row_.data(), 0, row_.size() * sizeof(std::uint64_t));
  }
  std::uint64_t* row = row_.data();
  out.begin(static_cast<int>(bytes), picture.height());
  for (int y = 0; y < picture.height(); ++y) {
    const std::uint8_t* level = picture.levels(y);
    for (const PixelRun& run : picture.row(y)) {
      std::size_t x = run.x;
      for (std::size_t left = run.literals; left > 0;) {
        const std::size_t count = std::min<std::size_t>(left, 64);
        std::uint64_t bits = 0;
        for (std::size_t i = 0; i < count; ++i) bits = bits << 1 | differs_[*level++];
        put_bits(row, x, bits, count);
        x += count;
        left -= count;
      }
      if (differs_[run.level] != 0) set_bits(row, x, x + run.repeats);
    }
    // The bits that fill up the last byte must be 0, for any background.
    if (background_ != 0) set_bits(row, width, 8 * bytes);
    out.begin_row();
    for (std::size_t w = 0; w < words; ++w) {
      for (std::uint64_t word = row[w]; word != 0;) {
        const int byte = std::countl_zero(word) / 8, shift = 56 - 8 * byte;
        out.add_literal(static_cast<int>(8 * w) + byte, static_cast<std::uint8_t>(word >> shift));
        word &= (std::uint64_t{1} << shift) - 1;
      }
      row[w] = 0;
    }
  }
  out.finish();
}

}  // namespace millrace::rle
