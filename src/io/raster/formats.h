// Input: the same as in raster.h.
// Output: rasters of each format.
// Never: used outside this folder.
#pragma once

#include "src/io/raster/raster.h"

namespace millrace::raster {

// Size of the tiles, in formats that have them. Rows are held until a row of tiles is complete.
struct TileSize {
  std::uint64_t height, width;
};
TileSize tiff_tile(const RasterSpec& spec);
inline constexpr TileSize kZarrChunk{256, 2048};

std::unique_ptr<RasterWriter> png(const RasterSpec& spec, const std::string& path, const std::string& saved);
std::unique_ptr<RasterWriter> tiff(const RasterSpec& spec, const std::string& path, std::uint64_t rows,
                                   const std::string& saved);
std::unique_ptr<RasterWriter> npy(const RasterSpec& spec, const std::string& path, std::uint64_t rows);
std::unique_ptr<RasterWriter> zarr(const RasterSpec& spec, const std::string& path, std::uint64_t rows,
                                   const std::string& saved);

// Formats numbers as "12 34 5", and parses such a text. Throws Failure(bad_data) where it does not hold `count`
// numbers.
std::string format_numbers(std::initializer_list<std::uint64_t> numbers);
std::vector<std::uint64_t> parse_numbers(const std::string& text, std::size_t count);

// Data in memory that are not yet written for good, kept in a file beside an incomplete output. There are two such
// files, used in turn: until a checkpoint names the new one, the previous one is valid.
class PendingDataFile {
 public:
  explicit PendingDataFile(std::string path, std::uint64_t turn = 0) : path_(std::move(path)), turn_(turn) {}

  // Writes the data to the disk, and returns which of the two files holds them.
  std::uint64_t save_data(std::initializer_list<std::span<const std::byte>> parts);
  // Reads the file that a checkpoint names. Throws Failure(bad_data) where it is missing or incomplete.
  void restore(std::initializer_list<std::span<std::byte>> parts) const;

 private:
  std::string name() const { return path_ + (turn_ == 0 ? ".held-0" : ".held-1"); }

  std::string path_;
  std::uint64_t turn_;
};

// Collects rows until they fill a row of tiles: [planes, height of a tile, width, samples].
class TileRowBuffer {
 public:
  TileRowBuffer(const RasterSpec& spec, TileSize tile);

  // True when a row of tiles, or the image, is complete. Then the caller takes the tiles and calls next().
  bool append(std::span<const std::byte> row);
  // Returns the address of element (plane, row, 0, 0).
  const std::byte* row(std::uint64_t plane, std::uint64_t row) const;
  void next() { rows_ = 0; }
  // Buffer with the rows of an incomplete row of tiles. pending_rows() is to be saved, and restore() is to be filled
  // with it.
  std::span<const std::byte> pending_rows() const { return rows_of_tile_; }
  std::span<std::byte> restore(std::uint64_t rows_written);
  // Copies one tile into [height, width, samples], with zeros where it extends beyond the image.
  void tile(std::uint64_t plane, std::uint64_t column, std::span<std::byte> out) const;

 private:
  const RasterSpec& spec_;
  const TileSize tile_;
  std::vector<std::byte> rows_of_tile_;
  std::uint64_t rows_ = 0, done_ = 0;
};

}  // namespace millrace::raster
