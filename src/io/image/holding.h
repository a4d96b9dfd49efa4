// Input: lists of what picture files hold besides the picture that is decoded.
// Output: words for it, and which of it another file lacks.
// Never: it reads a file; metadata/holdings.h does.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace millrace {

enum class HoldingKind : std::uint8_t {
  film,      // of a motion photo
  sound,     // a voice that a phone took down
  picture,   // another view, or a map that makes it bright on a screen that can: not a preview of the first
  sequence,  // frames of a film that is a picture by its name
  profile,   // its numbers mean other colours than sRGB's
  unknown,   // bytes behind the picture that nothing here understands
};
inline constexpr int kHoldingKinds = 6;
// Names a kind as the thing of a file: "its film".
const char* words_of(HoldingKind kind);

struct Holding {
  HoldingKind what = HoldingKind::unknown;
  // Hash of its bytes, equal for a copy. 0: only a file of the same bytes has a copy.
  std::uint64_t hash = 0;

  bool operator==(const Holding&) const = default;
};

// Finds the first thing that one file holds and another, of other bytes, lacks.
std::optional<HoldingKind> lacks(const std::vector<Holding>& other, const std::vector<Holding>& one);

}  // namespace millrace
