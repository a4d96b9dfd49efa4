// Input: two folders that were searched together, and an object for detailed checks.
// Output: for each picture of either folder, whether the other has it: interchangeable, in a lesser form, or not.
// Never: counts a picture as present that only looks similar.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "src/jobs/dedupe/group/groups.h"
#include "src/jobs/dedupe/suggest/origins.h"
#include "src/jobs/dedupe/suggest/pair_comparator.h"

namespace millrace::dedupe {

// Best form in which the other folder has a picture.
enum class FolderPresence : std::uint8_t {
  bytes,            // the same bytes
  pixels,           // the same pixels, other metadata
  interchangeable,  // all that it shows, in all its detail, by the detailed check
  less,             // smaller, a crop of it, damaged, or without its RAW, its video or other holdings
  alike,            // another shot, altered, recoloured, or one that could not be checked
  absent,
};
inline constexpr std::array<FolderPresence, 6> kFolderPresences = {
    FolderPresence::bytes, FolderPresence::pixels, FolderPresence::interchangeable,
    FolderPresence::less,  FolderPresence::alike,  FolderPresence::absent};
const char* name_of(FolderPresence presence);
// True if removing the folder of the picture would lose nothing of it.
constexpr bool is_covered(FolderPresence presence) { return presence <= FolderPresence::interchangeable; }

struct FilePresence {
  std::string path;
  std::size_t folder = 0;  // index of its folder
  FolderPresence presence = FolderPresence::absent;
  std::string nearest;  // nearest file of the other folder
  std::string missing;  // holding or companion that the other folder lacks
  bool by_preview =
      false;  // true if one of the two is a RAW file of other bytes, of which only the preview was compared
};

// Returns an entry for every name of a picture in either folder, in the order of their paths. `folders` are absolute,
// neither contains the other, and both are the albums of the search.
std::vector<FilePresence> compare_folders(const SearchResult& found, const std::array<std::string, 2>& folders,
                                          const Origins& origins, PairComparator& comparator);

}  // namespace millrace::dedupe
