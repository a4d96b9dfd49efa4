// Input: a picture's thumbnail.
// Output: codes of the whole picture and of its crops. Crops are windows as people crop them, the content of a plain or
// blurred border or of a screen, and the whole rotated and mirrored. By codes, a crop of one picture matches the whole
// of another.
// Never: decides that two pictures are the same: similarity/ and detailed_check/ do so for the pairs that match here.
//
// A code holds the signs of the 48 lowest DCT coefficients of the crop's luma, without the mean, the lowest first. They
// hardly change while a window moves by a twenty-fifth of its side. The first sixteen are a key, by which a crop is
// searched. Five signs of a whole's key are in doubt: those of the least coefficients, each times its frequency. The
// crop's mean chroma and the proportion of its sides are kept too, because cropping hardly changes them.
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

namespace millrace::crops {

// Version of codes, boxes and matches. It changes whenever the same thumbnails may give other codes or boxes, or codes
// may match others; earlier results are then computed anew.
// docs/design/crops.md gives the reasons for the constants of this file.
inline constexpr std::uint32_t kVersion = 1;

// A window of a picture, in shares of its sides.
struct CropArea {
  float left = 0, top = 0, right = 1, bottom = 1;
  bool operator==(const CropArea&) const = default;
};

// Bits 0 to 47: coefficient i is above zero. Bits 48 to 55 and 56 to 63: the mean of blue, and of red, less luma,
// halved, plus 128.
using CropCode = std::uint64_t;
// Code of a crop without any structure; it matches no picture.
inline constexpr CropCode kSilent = ~CropCode{0};

inline constexpr int kSigns = 48, kKeyBits = 16, kDoubtful = 5;
inline constexpr CropCode kKey = (CropCode{1} << kKeyBits) - 1;
constexpr int blue_of(CropCode code) { return static_cast<int>(code >> 48 & 0xFF); }
constexpr int red_of(CropCode code) { return static_cast<int>(code >> 56); }

// Largest differences between a crop and a whole that match: in signs, in each chroma, and in 16 log2(width / height).
inline constexpr int kMaxSigns = 10, kMaxChroma = 4, kMaxSides = 4;

// Numbers of crops of each kind, in the order of CropCodes::parts. Windows come first, then the whole in the seven
// other orientations, in the order of kOrientations. The boxes of content_boxes() are last.
inline constexpr std::size_t kWindows = 92, kTurned = 7, kBoxes = 5;
inline constexpr std::size_t kCropCount = kWindows + kTurned + kBoxes;

enum class CropKind : std::uint8_t { window, turned, box };
// A crop by its kind, and its index among crops of that kind.
struct CropIndex {
  CropKind kind;
  std::size_t index;
};
constexpr CropIndex crop_index_of(std::size_t part) {
  if (part < kWindows) return {CropKind::window, part};
  if (part < kWindows + kTurned) return {CropKind::turned, part - kWindows};
  return {CropKind::box, part - kWindows - kTurned};
}
constexpr std::size_t crop_at(CropIndex place) {
  switch (place.kind) {
    case CropKind::window:
      break;
    case CropKind::turned:
      return kWindows + place.index;
    case CropKind::box:
      return kWindows + kTurned + place.index;
  }
  return place.index;
}

struct CropCodes {
  CropCode whole = kSilent;
  std::uint16_t doubtful = 0;               // bits of the whole's key whose signs are in doubt
  std::int8_t sides = 0;                    // 16 log2(width / height) of the whole
  std::array<std::int8_t, kBoxes> boxes{};  // the same of each box
  std::array<CropCode, kCropCount> parts;

  CropCodes() { parts.fill(kSilent); }
  int sides_of(std::size_t part) const;
};

// True if signs and chroma are near enough; the caller compares the key.
constexpr bool is_near(CropCode part, CropCode whole) {
  const auto apart = [](int a, int b) { return a < b ? b - a : a - b; };
  constexpr CropCode kAllSigns = (CropCode{1} << kSigns) - 1;
  return std::popcount((part ^ whole) & kAllSigns) <= kMaxSigns && apart(blue_of(part), blue_of(whole)) <= kMaxChroma &&
         apart(red_of(part), red_of(whole)) <= kMaxChroma;
}

// Code of a crop, and the indices [begin, end) of the codes of wholes that have its key.
struct CodeRun {
  CropCode code;
  std::uint32_t begin, end;
};
struct CodeMatch {
  std::uint32_t run, place;
};
// Number of codes that may be read after the last one of a run.
inline constexpr std::size_t kReadBeyond = 8;
// Appends the codes of each run that are near the run's own code, in order: is_near() for many.
void find_matches(std::span<const CodeRun> runs, const CropCode* codes, std::vector<CodeMatch>& out);

// True if a crop of one picture may be the whole of another.
bool can_match(const CropCodes& one, std::size_t part, const CropCodes& other);

// Source of a crop: a window of the upright picture, or the whole rotated or mirrored.
struct CropView {
  CropArea area;
  Orientation orientation = Orientation::upright;
};
// Returns the source of a crop; `boxes` as content_boxes() returned them.
CropView view_of(std::size_t part, std::span<const CropArea> boxes);

// Returns the codes of a picture. `squeezed` is the picture scaled to 64 x 64, red, green, blue. Width and height are
// its original sides, at least 1; `boxes` as content_boxes() returned them.
CropCodes codes_of(std::span<const std::uint8_t, std::size_t{64} * 64 * 3> squeezed, int width, int height,
                   std::span<const CropArea> boxes);

// Returns at most kBoxes areas that may be a picture within a picture:
//  - inside plain margins;
//  - inside margins with little on them (a screen's bars);
//  - between the straightest edges of the four sides;
//  - between two edges at one distance from opposite sides (blurred borders).
// They are guesses, which the caller verifies. `rgb` is width x height pixels, at most 512 a side.
std::vector<CropArea> content_boxes(std::span<const std::uint8_t> rgb, int width, int height);

}  // namespace millrace::crops
