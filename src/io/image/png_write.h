// Enters: 8-bit pixels; or a zlib stream of rows, made elsewhere.
// Leaves: a PNG file of them, whole or not at all; or the bytes of one.
// Never: keeps a time or another thing of this machine in it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/io/output/output.h"

namespace millrace {

// Rows from the top; channels is 1 (gray) or 3 (RGB). The file says that it was made here. Throws Failure.
void write_png(const Output& output, int width, int height, int channels, std::span<const std::uint8_t> pixels);

// A picture whose pixels are numbers of a palette, 8 bits each, written as its rows come. Throws Failure.
class PalettePng {
 public:
  using Color = std::array<std::uint8_t, 3>;
  // 1 to 256 colours. The file says that it was made here.
  PalettePng(const Output& output, int width, int height, std::span<const Color> palette);
  ~PalettePng();
  PalettePng(const PalettePng&) = delete;
  PalettePng& operator=(const PalettePng&) = delete;

  // The next row.
  void append(std::span<const std::uint8_t> row);
  // Behind the last row: the file has its name. Without it there is none.
  void finish();

 private:
  struct Stream;
  void compress(bool last);
  OutputFile file_;
  std::unique_ptr<Stream> stream_;
  std::vector<std::uint8_t> out_;
};

// What a file begins with says that write_png() or PalettePng made it.
bool is_own_png(std::span<const std::uint8_t> front);

struct PngShape {
  std::uint32_t width = 0, height = 0;
  int channels = 1;  // 1 (gray) or 3 (RGB)
  int bits = 8;      // of a channel: 8, or 1 where it is gray
};
// The bytes of a PNG whose image data is `stream`: for each row a 0, then its pixels.
void append_png(const PngShape& shape, std::span<const std::uint8_t> stream, std::vector<std::uint8_t>& out);

}  // namespace millrace
