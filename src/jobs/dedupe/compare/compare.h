// Input: two folders that were searched together, and who looks closely.
// Output: for each picture of either, whether the other has it, as good, less good, or not.
// Never: calls one there that only looks alike.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "src/jobs/dedupe/group/groups.h"
#include "src/jobs/dedupe/suggest/look_closely.h"
#include "src/jobs/dedupe/suggest/origins.h"

namespace millrace::dedupe {

// How the other folder has a picture: at best.
enum class Held : std::uint8_t {
  bytes,    // the same bytes
  pixels,   // every pixel, other metadata
  as_good,  // all that it shows, in all its detail, by a close look
  less,     // smaller, a part of it, damaged, or without its RAW, its film or what else it holds
  alike,    // another shot, altered, recoloured, or one that could not be looked at
  absent,
};
inline constexpr std::array<Held, 6> kHeld = {Held::bytes, Held::pixels, Held::as_good,
                                              Held::less,  Held::alike,  Held::absent};
const char* name_of(Held held);
// There is nothing of it to be lost with the folder that it is in.
constexpr bool is_there(Held held) { return held <= Held::as_good; }

struct HeldFile {
  std::string path;
  std::size_t folder = 0;  // which of the two it is in
  Held held = Held::absent;
  std::string by;           // the other folder's file that comes nearest
  std::string missing;      // what it holds, or what goes along with it, and is not there
  bool by_preview = false;  // one of the two is a RAW file of other bytes, of which the preview alone was compared
};

// Of every name of a picture in either folder, in the order of their paths; `folders` absolute, neither in the other,
// and the albums of the search.
std::vector<HeldFile> compare_folders(const SearchResult& found, const std::array<std::string, 2>& folders,
                                      const Origins& origins, Looks& looks);

}  // namespace millrace::dedupe
