// Input: a JPEG, and the facts in its head about further pictures in the same file.
// Output: the bytes of videos, sounds and further pictures that lie behind the first picture.
// Never: returns data that cameras append to every picture: larger previews, lists of their own.
//
// Pictures: CIPA DC-007 (MPF). Videos: motion photos by Google and by Samsung, whose files end with a list of their
// contents (SEFH ... SEFT).
#pragma once

#include <cstdint>
#include <vector>

#include "src/io/image/extra_data.h"
#include "src/io/image/metadata/byte_range.h"

namespace millrace {

struct AppendedData {
  ExtraDataKind what = ExtraDataKind::unknown;
  ByteRange bytes;
};

// Facts from the head of a JPEG. Where they contain no index and no motion photo, a file that ends as a JPEG should is
// not searched.
struct JpegHead {
  std::uint64_t picture_at = 0;  // offset of the first scan
  ByteRange mpf;                 // the index, after "MPF\0"
  bool is_motion_photo = false;  // the XMP names a motion photo
};

// May read all of `file`.
std::vector<AppendedData> find_appended_data(ByteRange file, const JpegHead& head);

}  // namespace millrace
