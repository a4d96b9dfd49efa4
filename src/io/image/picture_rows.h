// Input: a picture file.
// Output: its rows on request, while the next ones are being decoded.
// Never: decodes before the first row is requested; decodes further ahead than its buffer; keeps a row that was taken.
//
// decode_picture() delivers rows when it has them; this class delivers them when the caller needs them. Some pictures
// are not decoded row by row: a progressive JPEG, an interlaced PNG, a TIFF of one strip. Their decoder holds the whole
// picture until the last row is taken. A caller that takes hours decodes them to a file first.
#pragma once

#include <memory>
#include <string>

#include "src/io/image/picture.h"

namespace millrace {

class PictureRows {
 public:
  // Reads the file until the picture's size is known. `ahead` is the number of bytes of decoded rows to buffer, at
  // least one row.
  static Outcome<std::unique_ptr<PictureRows>> open(std::unique_ptr<FileReader> file, DecodeOptions options,
                                                    Bytes ahead);
  // Ends the decoding at any point.
  ~PictureRows();
  PictureRows(const PictureRows&) = delete;
  PictureRows& operator=(const PictureRows&) = delete;

  const PictureInfo& info() const;
  std::size_t row_bytes() const;
  // True where the decoder holds more than 64 MiB, and more than half as many bytes as all rows have.
  bool is_held_whole() const;
  // Decodes everything into a file in `folder` that no other process sees, and ends the decoder. It is called before
  // the first row is taken. An error of the decoder is reported at its place among the rows. Throws Failure(io) where
  // the file cannot be written.
  void spool(const std::string& folder);
  // Copies the next `count` rows, one after the other; there are info().height of them. Returns an error where the file
  // ends early or is corrupt; then no more rows follow.
  Outcome<void> take(int count, std::uint8_t* out);
  // Result after the last row: the decoder's outcome, and the hash of the whole file.
  struct Finished {
    DecodeResult decoded;
    ContentHash hash{};
  };
  Outcome<Finished> finish();

 private:
  class RowBuffer;
  PictureRows();
  std::unique_ptr<RowBuffer> buffer_;
};

}  // namespace millrace
