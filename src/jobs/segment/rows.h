// Input: a picture file, or an image in memory.
// Output: rows of pixels that windows are cut of: the picture's own, as it is decoded; or of a square that it is
//   brought to first, with the way back.
// Never: holds a picture whole that windows are cut of as it is; of a square all of the photograph, until it is made.
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

class Rows {
 public:
  virtual ~Rows() = default;

  // Sides of what windows are cut of; bytes of a pixel of it: 1 (gray), 3, or 6: red, green, blue and these enhanced.
  virtual std::int64_t width() const = 0;
  virtual std::int64_t height() const = 0;
  virtual std::size_t pixel() const = 0;
  std::size_t row_bytes() const { return static_cast<std::size_t>(width()) * pixel(); }

  // What it takes, rows that lie decoded included.
  virtual Bytes needs() const = 0;
  // Its decoder holds it whole, and begin() has it decode into a file.
  virtual bool is_spooled() const = 0;
  // Behind whoever paid for it. `folder` is for what its decoder would hold whole; empty: it may. Failure where it
  // cannot be brought to a square.
  virtual void begin(const std::string& folder) = 0;
  // The next row. Failure where the file ends before.
  virtual void take(std::uint8_t* out) = 0;
  virtual PictureRows::Finished finish() = 0;

  // Once it has begun: where the square lies on the photograph, and what is known of its field of view.
  virtual const fundus::Crop* crop() const { return nullptr; }
  virtual const FieldOfView* field() const { return nullptr; }

  // Of the picture; the state of its file, empty of what has none.
  const PictureInfo& info() const { return info_; }
  const std::string& source() const { return source_; }

 protected:
  PictureInfo info_;
  std::string source_;
};

// Failure where it cannot be decoded, or is of grays that networks are not given.
std::unique_ptr<Rows> open_rows(const Options& options, const Setup& setup, const std::string& path,
                                RunContext& context);
// Of a picture that says where to look, gray where its decoder can. What decoding it throws.
std::unique_ptr<Rows> open_region_rows(const std::string& path, DecodeOptions decoding);
// Of an image that was checked, and that lives as long as they; `name` is what messages call it.
std::unique_ptr<Rows> rows_of(const Setup& setup, const ArrayView& image, const std::string& name);
std::unique_ptr<Rows> region_rows_of(const ArrayView& image);

// What tells whether a file was written to since: device, inode, size, times of contents and of the entry.
std::string state_text(const FileReader& file);

}  // namespace millrace::segment
