// Input: 8-bit pixels; or a zlib stream of rows, made elsewhere.
// Output: a PNG file with these pixels, written completely or not at all; or the bytes of one.
// Never: stores a time or anything else about this machine in it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "src/io/output/output.h"

namespace millrace {

// Writes rows from the top; channels is 1 (gray) or 3 (RGB). The file is marked as made by this program. Throws
// Failure.
void write_png(const OutputTarget& output, int width, int height, int channels, std::span<const std::uint8_t> pixels);

// Writes the same in a tenth of the time, for thousands of pictures. Photographs become about as large.
void write_png_fast(const OutputTarget& output, int width, int height, int channels,
                    std::span<const std::uint8_t> pixels);

// True for a file whose first bytes are marked as made by this program, by write_png() or as a raster.
bool is_own_png(std::span<const std::uint8_t> front);

// The following append parts of a PNG: signature and header, a chunk, and the chunk that marks the file as ours.
enum class PngColors : std::uint8_t { gray = 0, rgb = 2, palette = 3 };
struct PngShape {
  std::uint32_t width = 0, height = 0;
  int channels = 1;  // 1 (gray) or 3 (RGB)
  int bits = 8;      // bits per channel: 8, or 1 for gray
};
void append_png_header(const PngShape& shape, PngColors colors, std::vector<std::uint8_t>& out);
void append_png_chunk(std::string_view name, std::span<const std::uint8_t> data, std::vector<std::uint8_t>& out);
void append_png_software(std::vector<std::uint8_t>& out);
// Compresses rows to a zlib stream, at the fastest level, which is good enough for thousands of pictures.
std::vector<std::uint8_t> compress_png_rows(std::span<const std::uint8_t> rows);
// Appends a PNG whose image data is `stream`: for each row a 0, then its pixels.
void append_png(const PngShape& shape, std::span<const std::uint8_t> stream, std::vector<std::uint8_t>& out);

}  // namespace millrace
