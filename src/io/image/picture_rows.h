// Input: a picture file.
// Output: its rows, when they are asked for, while the next ones are being decoded.
// Never: decodes before the first row is asked for, further ahead than it has room for, or keeps a row that was taken.
//
// decode_picture() gives rows when it has them; who needs them when he needs them has this between. Some pictures do
// not come in rows: a progressive JPEG, an interlaced PNG, a TIFF of one strip, of which the decoder holds all until
// the last row is taken. Whoever takes hours for that decodes them to a file first.
#pragma once

#include <memory>
#include <string>

#include "src/io/image/picture.h"

namespace millrace {

class PictureRows {
 public:
  // Reads as far as the picture's sides. `ahead` is how many bytes of rows may lie decoded, at least a row.
  static Outcome<std::unique_ptr<PictureRows>> open(std::unique_ptr<FileReader> file, DecodeOptions options,
                                                    Bytes ahead);
  // Ends the decoding, wherever it is.
  ~PictureRows();
  PictureRows(const PictureRows&) = delete;
  PictureRows& operator=(const PictureRows&) = delete;

  const PictureInfo& info() const;
  std::size_t row_bytes() const;
  // The decoder holds a good part of the picture.
  bool is_held_whole() const;
  // Before the first row was taken: decodes all of it into a file in this folder that nobody else sees, and ends the
  // decoder. An error of the decoder comes in its place among the rows. Failure(io) where the file cannot be written.
  void spool(const std::string& folder);
  // The next `count` rows, one behind the other; there are info().height of them. An error where the file ends before,
  // or holds something else; then there are no more.
  Outcome<void> take(int count, std::uint8_t* out);
  // Behind the last row: what the decoder had to say in the end, and the hash of all of the file.
  struct Finished {
    Decoded decoded;
    ContentHash hash{};
  };
  Outcome<Finished> finish();

 private:
  class Between;
  PictureRows();
  std::unique_ptr<Between> between_;
};

}  // namespace millrace
