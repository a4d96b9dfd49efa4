// Input: an image's rows, from the top, as they become known.
// Output: a file of it, or a folder of files, in a format that a person's other programs read.
// Never: holds more of it than a row of tiles; starts anew where a run that was killed has written rows.
//
// It is written into a folder that is this program's own, and whoever asked gives it its name when it is whole. The
// bytes are the same whether it was interrupted or not, as long as mark() is called behind the same rows.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "include/millrace/array.h"
#include "src/base/choice.h"

namespace millrace {

enum class RasterFormat : std::uint8_t { png, tiff, npy, zarr };
constexpr std::array<Choice<RasterFormat>, 4> choices_of(RasterFormat) {
  return {{{"png", RasterFormat::png},
           {"tiff", RasterFormat::tiff},
           {"npy", RasterFormat::npy},
           {"zarr", RasterFormat::zarr}}};
}

struct RasterSpec {
  using Color = std::array<std::uint8_t, 3>;
  std::uint64_t width = 0, height = 0;
  // Planes lie one behind the other, samples side by side: [planes, height, width, samples].
  std::uint64_t planes = 1, samples = 1;
  ElementType type = kUint8;
  // Of values of one plane and sample, in uint8; empty: they are brightnesses.
  std::vector<Color> palette{};
  // Of the palette, what covers nothing where it is laid over a picture.
  std::vector<bool> clear{};
  // Of the planes, for formats that have names.
  std::vector<std::string> names{};

  std::uint64_t row_elements() const { return width * samples; }
  std::uint64_t row_bytes() const { return row_elements() * type.bytes(); }
};

class Raster {
 public:
  Raster() = default;
  virtual ~Raster() = default;
  Raster(const Raster&) = delete;
  Raster& operator=(const Raster&) = delete;

  // The next row of all planes, [planes, width, samples]. Failure(io).
  virtual void append(std::span<const std::byte> row) = 0;
  // A run may go on from here.
  virtual void mark() {}
  // Right behind a mark: what it was given so far survives the loss of this process and of power, and what
  // make_raster() needs to go on, as a text.
  virtual std::string save() = 0;
  // Behind the last row: all of it is on the disk.
  virtual void finish() = 0;
};

// Whether a format can hold it: PNG holds no floating point and one plane.
bool can_hold(RasterFormat format, const RasterSpec& spec);
// ".png", or what a file or a folder of this format ends with.
const char* ending_of(RasterFormat format);
// What it holds in memory.
std::uint64_t raster_bytes(RasterFormat format, const RasterSpec& spec);

// `path` is of a file or a folder that only this run writes to. `saved` is what save() gave behind `rows` rows; empty:
// it begins. Failure(bad_data, conflict) where that is not what lies there.
std::unique_ptr<Raster> make_raster(RasterFormat format, const RasterSpec& spec, const std::string& path,
                                    std::uint64_t rows = 0, const std::string& saved = {});

}  // namespace millrace
