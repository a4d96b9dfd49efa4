// Input: what picture files hold besides the picture that is decoded.
// Output: words for it, and which of it another file lacks.
// Never: it reads a file; metadata/holdings.h and the decoders do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace millrace {

enum class HoldingKind : std::uint8_t {
  film,      // of a motion photo
  sound,     // a voice that a phone took down
  picture,   // another view, or a map that makes it bright on a screen that can: not a preview of the first
  sequence,  // frames of a film that is a picture by its name
  profile,   // its numbers mean other colours than sRGB's
  unknown,   // bytes behind the picture that nothing here understands
  raw_data,  // of a sensor, of which the preview was decoded
  // Decoders meet these (Unshown).
  pages,
  frames,
  depth,
  transparency,
};
inline constexpr int kHoldingKinds = 11;
// Gives the word that JSON has: "film".
const char* name_of(HoldingKind kind);
// Names a kind as the thing of a file: "its film".
const char* words_of(HoldingKind kind);

struct Holding {
  HoldingKind what = HoldingKind::unknown;
  // Hash of its bytes, equal for a copy. 0: only a file of the same bytes has a copy.
  std::uint64_t hash = 0;

  bool operator==(const Holding&) const = default;
};

// A decoder met it, and its rows of 8 bits, of one page, do not show it.
struct Unshown {
  bool pages = false, frames = false;  // more of them
  bool depth = false;                  // samples of more than 8 bits
  bool transparency = false;           // that hides some of the picture

  bool any() const { return pages || depth || is_another_picture(); }
  // People see something else in it than these rows.
  bool is_another_picture() const { return frames || transparency; }
  bool operator==(const Unshown&) const = default;
  // Catalogues and helpers have it as bits.
  static constexpr unsigned kMostBits = 15;
  unsigned bits() const {
    return (pages ? 1U : 0U) | (frames ? 2U : 0U) | (depth ? 4U : 0U) | (transparency ? 8U : 0U);
  }
  static Unshown from(unsigned bits) { return {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0}; }
};

// Converts to the words of JSON, and back; unknown words are passed over.
std::vector<std::string> names_of(const Unshown& unshown);
Unshown unshown_of(const std::vector<std::string>& names);
// Adds it to a list. Of two files that have it nobody knows whether it is the same, unless their bytes are.
void add(const Unshown& unshown, std::vector<Holding>& holdings);
// Each kind once, in the order of their first ones.
std::vector<HoldingKind> kinds_of(const std::vector<Holding>& holdings);
// Finds the first thing that one file holds and another, of other bytes, lacks.
std::optional<HoldingKind> lacks(const std::vector<Holding>& other, const std::vector<Holding>& one);

}  // namespace millrace
