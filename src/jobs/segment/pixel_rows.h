// Input: an image file, or an image in memory.
// Output: rows of pixels from which windows are cut. They are rows of the image, while it is decoded; or of a square
//   made from it, with the mapping back.
// Never: holds a whole image, unless a square is made from it; then it holds the photograph until the square is made.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "src/io/image/picture_rows.h"
#include "src/jobs/callers_image.h"
#include "src/jobs/field_of_view.h"
#include "src/jobs/segment/setup.h"
#include "src/pipeline/run_context.h"

namespace millrace::segment {

class PixelRows {
 public:
  virtual ~PixelRows() = default;

  // Sides of the image or square, and bytes per pixel: 1 (gray), 3 (RGB), or 6 (RGB and enhanced RGB).
  virtual std::int64_t width() const = 0;
  virtual std::int64_t height() const = 0;
  virtual std::size_t pixel() const = 0;
  std::size_t row_bytes() const { return static_cast<std::size_t>(width()) * pixel(); }

  // Returns the memory, including rows that are decoded ahead.
  virtual Bytes memory_cost() const = 0;
  // True if the decoder holds the whole image, so that begin() decodes it into a file.
  virtual bool is_spooled() const = 0;
  // Starts decoding; the memory must be reserved already. `folder` is for the file of an image that the decoder would
  // hold whole; if empty, it is held in memory. Throws a Failure if no square can be made.
  virtual void begin(const std::string& folder) = 0;
  // Reads the next row. Throws a Failure if the file ends early.
  virtual void take(std::uint8_t* out) = 0;
  virtual PictureRows::Finished finish() = 0;

  // Position of the square on the photograph, and its field of view, after begin(); null if there is none.
  virtual const fundus::FundusCrop* crop() const { return nullptr; }
  virtual const FieldOfView* field() const { return nullptr; }

  // Properties of the image, and the state of its file; the state is empty for images in memory.
  const PictureInfo& info() const { return info_; }
  const std::string& source() const { return source_; }

 protected:
  PictureInfo info_;
  std::string source_;
};

// Opens an image. Throws a Failure if it cannot be decoded, or has gray values of a kind that networks do not accept.
std::unique_ptr<PixelRows> open_rows(const Options& options, const Setup& setup, const std::string& path,
                                     RunContext& context);
// Opens a region image, as gray if its decoder can do that. Throws what decoding throws.
std::unique_ptr<PixelRows> open_region_rows(const std::string& path, DecodeOptions decoding);
// Returns rows of a checked image, which must outlive them; `name` is its name in messages.
std::unique_ptr<PixelRows> make_image_rows(const Setup& setup, const ArrayView& image, const std::string& name);
std::unique_ptr<PixelRows> make_region_rows(const ArrayView& image);

// Returns text that changes when a file is written to: device, inode, size, time of modification and time of status
// change.
std::string format_file_state(const FileReader& file);

}  // namespace millrace::segment
