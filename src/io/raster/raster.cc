#include "src/io/raster/raster.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "src/base/error.h"
#include "src/base/text.h"
#include "src/io/file/resumable_file.h"
#include "src/io/raster/formats.h"

namespace millrace {
namespace raster {

std::string format_numbers(std::initializer_list<std::uint64_t> numbers) {
  return fmt::format("{}", fmt::join(numbers, " "));
}

std::vector<std::uint64_t> parse_numbers(const std::string& text, std::size_t count) {
  std::vector<std::uint64_t> out;
  for (const std::string& part : split(text, ' ')) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error == std::errc() && end == part.data() + part.size()) out.push_back(value);
  }
  if (out.size() != count) throw Failure(ErrorCode::bad_data, "the checkpoint is damaged");
  return out;
}

std::uint64_t PendingDataFile::save_data(std::initializer_list<std::span<const std::byte>> parts) {
  turn_ = 1 - turn_;
  ResumableFile file(name());
  for (const auto& part : parts) file.append(part);
  file.sync();
  return turn_;
}

void PendingDataFile::restore(std::initializer_list<std::span<std::byte>> parts) const {
  std::uint64_t at = 0;
  ResumableFile file(name(), 0);
  for (const auto& part : parts) {
    file.read_at(at, part);
    at += part.size();
  }
}

TileRowBuffer::TileRowBuffer(const RasterSpec& spec, TileSize tile)
    : spec_(spec), tile_(tile), rows_of_tile_(spec.planes * tile.height * spec.row_bytes()) {}

bool TileRowBuffer::append(std::span<const std::byte> row) {
  const std::size_t bytes = spec_.row_bytes();
  for (std::size_t plane = 0; plane < spec_.planes; ++plane) {
    std::copy_n(row.begin() + static_cast<std::ptrdiff_t>(plane * bytes), bytes,
                rows_of_tile_.begin() + static_cast<std::ptrdiff_t>((plane * tile_.height + rows_) * bytes));
  }
  ++rows_;
  ++done_;
  return rows_ == tile_.height || done_ == spec_.height;
}

const std::byte* TileRowBuffer::row(std::uint64_t plane, std::uint64_t row) const {
  return rows_of_tile_.data() + (plane * tile_.height + row) * spec_.row_bytes();
}

std::span<std::byte> TileRowBuffer::restore(std::uint64_t rows_written) {
  done_ = rows_written;
  rows_ = rows_written % tile_.height;
  return rows_of_tile_;
}

void TileRowBuffer::tile(std::uint64_t plane, std::uint64_t column, std::span<std::byte> out) const {
  const std::size_t pixel = spec_.samples * spec_.type.bytes(), width = tile_.width * pixel;
  const std::uint64_t left = column * tile_.width;
  const std::size_t there = std::min(tile_.width, spec_.width - left) * pixel;
  for (std::uint64_t r = 0; r < tile_.height; ++r) {
    std::byte* const to = out.data() + r * width;
    std::size_t used = 0;
    if (r < rows_) {
      used = there;
      std::memcpy(to, row(plane, r) + left * pixel, used);
    }
    std::memset(to + used, 0, width - used);
  }
}

}  // namespace raster

bool can_hold(RasterFormat format, const RasterSpec& spec) {
  if (format == RasterFormat::png) return spec.type == kUint8 && spec.planes == 1;
  // Arrays hold one number per pixel and plane; a colour image needs TIFF or PNG.
  return spec.samples == 1 || format == RasterFormat::tiff;
}

const char* extension_of_format(RasterFormat format) {
  switch (format) {
    case RasterFormat::png:
      return ".png";
    case RasterFormat::tiff:
      return ".tif";
    case RasterFormat::npy:
      return ".npy";
    case RasterFormat::zarr:
      return ".zarr";
  }
  return "";
}

std::uint64_t raster_memory_bytes(RasterFormat format, const RasterSpec& spec) {
  // Bytes of zlib, and of one or two tiles.
  constexpr std::uint64_t kCompressor = 2 << 20;
  const std::uint64_t row = spec.planes * spec.row_bytes();
  switch (format) {
    case RasterFormat::tiff: {
      // Bytes for the offset and length of each tile, which are kept, and copied into the directory at the end.
      constexpr std::uint64_t kOfTile = 72;
      const raster::TileSize tile = raster::tiff_tile(spec);
      const std::uint64_t tiles =
          spec.planes * ((spec.width + tile.width - 1) / tile.width) * ((spec.height + tile.height - 1) / tile.height);
      return row * tile.height + tiles * kOfTile + kCompressor;
    }
    case RasterFormat::zarr:
      return row * raster::kZarrChunk.height + kCompressor + raster::kZarrChunk.height * raster::kZarrChunk.width * 8;
    case RasterFormat::png:
    case RasterFormat::npy:
      break;
  }
  return row + kCompressor;
}

std::unique_ptr<RasterWriter> make_raster_writer(RasterFormat format, const RasterSpec& spec, const std::string& path,
                                                 std::uint64_t rows, const std::string& saved) {
  switch (format) {
    case RasterFormat::png:
      return raster::png(spec, path, saved);
    case RasterFormat::tiff:
      return raster::tiff(spec, path, rows, saved);
    case RasterFormat::npy:
      return raster::npy(spec, path, rows);
    case RasterFormat::zarr:
      return raster::zarr(spec, path, rows, saved);
  }
  return nullptr;
}

}  // namespace millrace
