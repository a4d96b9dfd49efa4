// Input: as raster.h says.
// Output: rasters of each format.
// Never: is seen outside this folder.
#pragma once

#include "src/io/raster/raster.h"

namespace millrace::raster {

// Tiles of the formats that have them: what of rows is held until a row of tiles is whole.
struct Tile {
  std::uint64_t height, width;
};
Tile tiff_tile(const RasterSpec& spec);
inline constexpr Tile kZarrChunk{256, 2048};

std::unique_ptr<Raster> png(const RasterSpec& spec, const std::string& path, const std::string& saved);
std::unique_ptr<Raster> tiff(const RasterSpec& spec, const std::string& path, std::uint64_t rows,
                             const std::string& saved);
std::unique_ptr<Raster> npy(const RasterSpec& spec, const std::string& path, std::uint64_t rows);
std::unique_ptr<Raster> zarr(const RasterSpec& spec, const std::string& path, std::uint64_t rows,
                             const std::string& saved);

// "12 34 5", and the numbers of such a text. Failure(bad_data) where it is not `count` of them.
std::string numbers_text(std::initializer_list<std::uint64_t> numbers);
std::vector<std::uint64_t> numbers_of(const std::string& text, std::size_t count);

// What is held in memory and not yet written for good, kept in a file beside an output while that is being made. There
// are two, by turns: until a checkpoint names the new one, the one before stands.
class Beside {
 public:
  explicit Beside(std::string path, std::uint64_t turn = 0) : path_(std::move(path)), turn_(turn) {}

  // On the disk; which it is.
  std::uint64_t keep(std::initializer_list<std::span<const std::byte>> parts);
  // The one that a checkpoint names. Failure(bad_data) where it is not there whole.
  void bring_back(std::initializer_list<std::span<std::byte>> parts) const;

 private:
  std::string name() const { return path_ + (turn_ == 0 ? ".held-0" : ".held-1"); }

  std::string path_;
  std::uint64_t turn_;
};

// Rows until there are enough for a row of tiles: [planes, height of a tile, width, samples].
class TileRows {
 public:
  TileRows(const RasterSpec& spec, Tile tile);

  // True when a row of tiles is whole, or the image is; take it then, and call next().
  bool append(std::span<const std::byte> row);
  // Element (plane, row, 0, 0).
  const std::byte* row(std::uint64_t plane, std::uint64_t row) const;
  void next() { rows_ = 0; }
  // What is held of an unfinished row of tiles, whole, to be kept elsewhere, and where it is brought back.
  std::span<const std::byte> held() const { return rows_of_tile_; }
  std::span<std::byte> bring_back(std::uint64_t rows_written);
  // One tile, with zeros where it reaches beyond the image, into [height, width, samples].
  void tile(std::uint64_t plane, std::uint64_t column, std::span<std::byte> out) const;

 private:
  const RasterSpec& spec_;
  const Tile tile_;
  std::vector<std::byte> rows_of_tile_;
  std::uint64_t rows_ = 0, done_ = 0;
};

}  // namespace millrace::raster
