// Input: an image's rows from the top, as they become available.
// Output: a file or a folder of files with the image, in a format that a person's other programs read.
// Never: holds more of the image than a row of tiles; starts again where a killed run has written rows.
//
// The output is written into a folder of this program, and the caller renames it when it is complete. The bytes do not
// depend on interruptions, as long as mark() is called after the same rows.
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
  // Planes are stored one after the other, samples side by side: [planes, height, width, samples].
  std::uint64_t planes = 1, samples = 1;
  ElementType type = kUint8;
  // Colours of the values of one plane and sample in uint8; empty: the values are brightness.
  std::vector<Color> palette{};
  // Palette entries that are transparent where the image is laid over a picture.
  std::vector<bool> clear{};
  // Names of the planes, for formats that store them.
  std::vector<std::string> names{};

  std::uint64_t row_elements() const { return width * samples; }
  std::uint64_t row_bytes() const { return row_elements() * type.bytes(); }
};

class RasterWriter {
 public:
  RasterWriter() = default;
  virtual ~RasterWriter() = default;
  RasterWriter(const RasterWriter&) = delete;
  RasterWriter& operator=(const RasterWriter&) = delete;

  // Takes the next row of all planes, [planes, width, samples]. Throws Failure(io).
  virtual void append(std::span<const std::byte> row) = 0;
  // Marks a point from which a run can resume.
  virtual void mark() {}
  // Makes everything so far survive the loss of this process and of power. It is called directly after mark(), and
  // returns the state that make_raster_writer() needs to resume, as a text.
  virtual std::string save() = 0;
  // Writes the end of the file to the disk, after the last row.
  virtual void finish() = 0;
};

// True where a format can hold the image. PNG holds neither floating point nor several planes.
bool can_hold(RasterFormat format, const RasterSpec& spec);
// Returns the ending of a file or folder in this format, such as ".png".
const char* extension_of_format(RasterFormat format);
// Returns the bytes that a raster holds in memory.
std::uint64_t raster_memory_bytes(RasterFormat format, const RasterSpec& spec);

// Opens a raster at `path`, a file or folder that only this run writes to. `saved` is the result of save() after `rows`
// rows; empty for a new raster. Throws Failure(bad_data, conflict) where the file does not match.
std::unique_ptr<RasterWriter> make_raster_writer(RasterFormat format, const RasterSpec& spec, const std::string& path,
                                                 std::uint64_t rows = 0, const std::string& saved = {});

}  // namespace millrace
