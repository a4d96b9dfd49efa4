// Input: the data that picture files hold besides the picture that is decoded.
// Output: names for these data, and which of them another file lacks.
// Never: reads a file; metadata/extra_data_search.h and the decoders do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace millrace {

enum class ExtraDataKind : std::uint8_t {
  video,     // video of a motion photo
  sound,     // voice memo recorded by a phone
  picture,   // another view, or a gain map that brightens it on HDR screens; not a preview of the first picture
  sequence,  // frames of a video in a file whose name is a picture's
  profile,   // ICC profile: the numbers mean other colours than sRGB's
  unknown,   // bytes behind the picture in no format that is read here
  raw_data,  // samples of a sensor, where the embedded preview was decoded
  // Decoders report the following kinds (UnshownData).
  pages,
  frames,
  depth,
  transparency,
};
inline constexpr int kExtraDataKinds = 11;
// Returns the name that JSON uses: "film".
const char* name_of(ExtraDataKind kind);
// Names a kind as something that a file has: "its video".
const char* describe_extra_data(ExtraDataKind kind);

struct ExtraData {
  ExtraDataKind what = ExtraDataKind::unknown;
  // Hash of its bytes, equal for a copy. 0: only a file with the same bytes is known to have a copy.
  std::uint64_t hash = 0;

  bool operator==(const ExtraData&) const = default;
};

// Data that a decoder found, but which its rows of 8 bits, of one page, do not show.
struct UnshownData {
  bool pages = false, frames = false;  // there are further ones
  bool depth = false;                  // samples of more than 8 bits
  bool transparency = false;           // it hides some of the picture

  bool any() const { return pages || depth || is_another_picture(); }
  // True where the file shows people something else than these rows.
  bool is_another_picture() const { return frames || transparency; }
  bool operator==(const UnshownData&) const = default;
  // Catalogs and helpers store it as bits.
  static constexpr unsigned kMaxBits = 15;
  unsigned bits() const {
    return (pages ? 1U : 0U) | (frames ? 2U : 0U) | (depth ? 4U : 0U) | (transparency ? 8U : 0U);
  }
  static UnshownData from(unsigned bits) {
    return {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0};
  }
};

// These two convert to the names in JSON and back. Unknown names are ignored.
std::vector<std::string> name_unshown_data(const UnshownData& unshown);
UnshownData parse_unshown_names(const std::vector<std::string>& names);
// Adds its data to a list, with hash 0: only in files with the same bytes they are known to be the same.
void add_unshown_data(const UnshownData& unshown, std::vector<ExtraData>& extra_data);
// Returns each kind once, in the order of first occurrence.
std::vector<ExtraDataKind> list_extra_data_kinds(const std::vector<ExtraData>& extra_data);
// Returns the kind of the first item in `one` that `other`, a file with different bytes, lacks.
std::optional<ExtraDataKind> find_missing_kind(const std::vector<ExtraData>& other, const std::vector<ExtraData>& one);

}  // namespace millrace
