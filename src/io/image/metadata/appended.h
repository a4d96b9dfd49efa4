// Input: a JPEG, and what its head says about more pictures in the same file.
// Output: the bytes of films, sound and further pictures that lie behind the first picture.
// Never: it counts what cameras write behind every picture: larger previews, lists of their own.
//
// Pictures: CIPA DC-007 (MPF). Films: Google's motion photos and Samsung's, whose files end with a list of what is in
// them (SEFH ... SEFT).
#pragma once

#include <cstdint>
#include <vector>

#include "src/io/image/holding.h"
#include "src/io/image/metadata/byte_range.h"

namespace millrace {

struct Appended {
  HoldingKind what = HoldingKind::unknown;
  ByteRange bytes;
};

// Facts from the head of a JPEG. Without an index or a word of a film in them, a file that ends as a JPEG does is not
// searched.
struct JpegHead {
  std::uint64_t picture_at = 0;  // offset of the first scan
  ByteRange mpf;                 // the index, behind "MPF\0"
  bool says_film = false;        // the XMP names a motion photo
};

// `file` may be read whole.
std::vector<Appended> appended_to_jpeg(ByteRange file, const JpegHead& head);

}  // namespace millrace
