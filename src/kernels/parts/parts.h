// Input: a picture's thumbnail.
// Output: codes of the whole picture and of its parts: windows as people cut them, what a frame, a blurred border or a
//         screen encloses, and the whole turned and mirrored. By them a part of one picture meets another's whole.
// Never: says that two pictures are the same: similarity/ and closelook/ do, of what meets here.
//
// A code holds the signs of the 48 lowest coefficients of the part's luma under a DCT, without the mean, the lowest
// first: they hardly change while a window moves by a twenty-fifth of its side. The first sixteen are a key, by which
// a part is looked up; of a whole's key five signs are in doubt, those of the least coefficients, each times its
// frequency. Beside them stand the part's mean chroma and the proportion of its sides, which a cut leaves as they are.
//
// Exactness: integers throughout; the weights are rounded from double once. The same codes on every machine.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/kernels/orient/orient.h"

namespace millrace::parts {

// Changes whenever the same thumbnails may give other codes or boxes, or codes meet others: what was found by them is
// found anew.
inline constexpr std::uint32_t kVersion = 1;

// A window of a picture, in shares of its sides.
struct Area {
  float left = 0, top = 0, right = 1, bottom = 1;
  bool operator==(const Area&) const = default;
};

// Bits 0 to 47: coefficient i is above zero. Bits 48 to 55 and 56 to 63: the mean of blue, and of red, less luma,
// halved, and 128.
using Code = std::uint64_t;
// Of a part that has nothing to hold on to; it meets nobody.
inline constexpr Code kSilent = ~Code{0};

inline constexpr int kSigns = 48, kKeyBits = 16, kDoubtful = 5;
inline constexpr Code kKey = (Code{1} << kKeyBits) - 1;
constexpr int blue_of(Code code) { return static_cast<int>(code >> 48 & 0xFF); }
constexpr int red_of(Code code) { return static_cast<int>(code >> 56); }

// How far a part and a whole may lie apart: in signs, in each chroma, and in 16 log2(width / height).
inline constexpr int kMostSigns = 10, kMostChroma = 4, kMostSides = 4;

// Where a part stands in Codes::parts: windows first, then the whole in the seven other orientations, as kOrientations
// has them, then what content_boxes() found.
inline constexpr std::size_t kWindows = 92, kTurned = 7, kBoxes = 5;
inline constexpr std::size_t kParts = kWindows + kTurned + kBoxes;

enum class PartKind : std::uint8_t { window, turned, box };
// A part by its kind: how many of that kind stand before it.
struct Place {
  PartKind kind;
  std::size_t index;
};
constexpr Place place_of(std::size_t part) {
  if (part < kWindows) return {PartKind::window, part};
  if (part < kWindows + kTurned) return {PartKind::turned, part - kWindows};
  return {PartKind::box, part - kWindows - kTurned};
}
constexpr std::size_t part_at(Place place) {
  switch (place.kind) {
    case PartKind::window:
      break;
    case PartKind::turned:
      return kWindows + place.index;
    case PartKind::box:
      return kWindows + kTurned + place.index;
  }
  return place.index;
}

struct Codes {
  Code whole = kSilent;
  std::uint16_t doubtful = 0;               // signs of the whole's key
  std::int8_t sides = 0;                    // 16 log2(width / height) of the whole
  std::array<std::int8_t, kBoxes> boxes{};  // and of each box
  std::array<Code, kParts> parts;

  Codes() { parts.fill(kSilent); }
  int sides_of(std::size_t part) const;
};

// Whether signs and chroma are near enough; the key is the caller's.
constexpr bool near(Code part, Code whole) {
  const auto apart = [](int a, int b) { return a < b ? b - a : a - b; };
  constexpr Code kAllSigns = (Code{1} << kSigns) - 1;
  return std::popcount((part ^ whole) & kAllSigns) <= kMostSigns &&
         apart(blue_of(part), blue_of(whole)) <= kMostChroma && apart(red_of(part), red_of(whole)) <= kMostChroma;
}

// A part, and codes of wholes that have its key, by their places.
struct Run {
  Code code;
  std::uint32_t begin, end;
};
struct Near {
  std::uint32_t run, place;
};
// How many codes are read past the last of a run.
inline constexpr std::size_t kReadBeyond = 8;
// Appends what of each run is near its code, in order: near() for many.
void find_near(std::span<const Run> runs, const Code* codes, std::vector<Near>& out);

// Whether a part of one picture may be the whole of another.
bool meet(const Codes& one, std::size_t part, const Codes& other);

// What of a picture a part is: a window of it as it stands, or the whole turned.
struct View {
  Area area;
  Orientation orientation = Orientation::upright;
};
// `boxes` as content_boxes() gave them.
View view_of(std::size_t part, std::span<const Area> boxes);

// `squeezed` is a picture brought to 64 x 64, red, green, blue; width and height are those it had, at least 1; `boxes`
// as content_boxes() gave them.
Codes codes_of(std::span<const std::uint8_t, std::size_t{64} * 64 * 3> squeezed, int width, int height,
               std::span<const Area> boxes);

// What may be a picture within a picture, at most kBoxes: inside plain margins, inside margins with little on them (a
// screen's bars), between the straightest edges of the four sides, and between two at one distance from opposite sides
// (blurred borders). Guesses: whoever uses one looks whether it is so. `rgb` is width x height pixels, at most 512 a
// side.
std::vector<Area> content_boxes(std::span<const std::uint8_t> rgb, int width, int height);

}  // namespace millrace::parts
