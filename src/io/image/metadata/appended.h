// Enters: a JPEG, and what its head says about more pictures in the same file.
// Leaves: where film, sound and further pictures lie behind the first.
// Never: takes for one what cameras write behind every picture: larger previews, lists of their own.
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

// What the head of a JPEG says, without which what follows is searched only where the file does not end as a JPEG does.
struct JpegHead {
  std::uint64_t picture_at = 0;  // of its first byte behind the head: where the scan begins
  ByteRange mpf;                 // what stands behind "MPF\0"
  bool says_film = false;        // its XMP does
};

// `file` may be read whole.
std::vector<Appended> appended_to_jpeg(ByteRange file, const JpegHead& head);

}  // namespace millrace
