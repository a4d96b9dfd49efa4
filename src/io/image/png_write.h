// Input: 8-bit pixels; or a zlib stream of rows, made elsewhere.
// Output: a PNG file of them, whole or not at all; or the bytes of one.
// Never: keeps a time or another thing of this machine in it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "src/io/output/output.h"

namespace millrace {

// Rows from the top; channels is 1 (gray) or 3 (RGB). The file says that it was made here. Throws Failure.
void write_png(const Output& output, int width, int height, int channels, std::span<const std::uint8_t> pixels);

// The same in a tenth of the time, for pictures by the thousand; photographs are about as large.
void write_png_fast(const Output& output, int width, int height, int channels, std::span<const std::uint8_t> pixels);

// What a file begins with says that this program made it, by write_png() or as a raster.
bool is_own_png(std::span<const std::uint8_t> front);

// The parts of a PNG, one behind the other: signature and header, a chunk, the chunk that says who made it.
enum class PngColors : std::uint8_t { gray = 0, rgb = 2, palette = 3 };
struct PngShape {
  std::uint32_t width = 0, height = 0;
  int channels = 1;  // 1 (gray) or 3 (RGB)
  int bits = 8;      // of a channel: 8, or 1 where it is gray
};
void append_png_header(const PngShape& shape, PngColors colors, std::vector<std::uint8_t>& out);
void append_png_chunk(std::string_view name, std::span<const std::uint8_t> data, std::vector<std::uint8_t>& out);
void append_png_maker(std::vector<std::uint8_t>& out);
// That stream of such rows, at the fastest level: pictures by the thousand are worth no more.
std::vector<std::uint8_t> png_stream(std::span<const std::uint8_t> rows);
// The bytes of a PNG whose image data is `stream`: for each row a 0, then its pixels.
void append_png(const PngShape& shape, std::span<const std::uint8_t> stream, std::vector<std::uint8_t>& out);

}  // namespace millrace
