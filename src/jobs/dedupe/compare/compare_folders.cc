#include "src/jobs/dedupe/compare/compare_folders.h"

#include <algorithm>
#include <map>

#include "src/base/paths.h"
#include "src/jobs/dedupe/scan/companions.h"
#include "src/jobs/dedupe/suggest/bit_rot.h"
#include "src/jobs/dedupe/suggest/keep_rule.h"

namespace millrace::dedupe {
namespace {

class FolderComparator {
 public:
  FolderComparator(const SearchResult& found, const std::array<std::string, 2>& folders, const Origins& origins,
                   PairComparator& comparator)
      : library_(found.library),
        folders_(folders),
        origins_(origins),
        comparator_(comparator),
        best_(library_.files.size()) {}

  std::vector<FilePresence> run(const SearchResult& found) {
    for (const LibraryPicture& picture : library_.pictures) note_copies(picture);
    for (const auto* list : {&found.groups, &found.related}) {
      for (const Group& group : *list) note_alike(group);
    }
    std::vector<PicturePair> pairs;
    for (const Group& group : found.groups) {
      if (group.kind <= GroupKind::similar) add_pairs(group, pairs);
    }
    std::sort(pairs.begin(), pairs.end());
    comparator_.check(pairs);
    for (const auto& [a, b] : pairs) {
      if (const Comparison* const comparison = comparator_.find(a, b)) {
        note(a, b, derive_relation(*comparison, true), comparison->same_pixels);
        note(b, a, derive_relation(*comparison, false), comparison->same_pixels);
      }
    }
    std::vector<FilePresence> out;
    for (const LibraryPicture& picture : library_.pictures) {
      for (const std::uint32_t f : picture.files) add_names(f, out);
    }
    std::sort(out.begin(), out.end(), [](const FilePresence& a, const FilePresence& b) { return a.path < b.path; });
    return out;
  }

 private:
  std::uint32_t album(std::uint32_t file) const { return library_.files[file].album; }

  const CatalogPicture& picture_of(std::uint32_t file) const {
    return library_.pictures[library_.files[file].picture].data;
  }
  bool is_whole(std::uint32_t file) const { return picture_of(file).damage.empty(); }
  bool is_raw(std::uint32_t file) const {
    return static_cast<ImageFormat>(picture_of(file).format) == ImageFormat::raw;
  }

  struct Best {
    FolderPresence presence = FolderPresence::absent;
    std::uint32_t nearest = kNone;
    std::string missing;
  };

  void record_if_better(std::uint32_t file, FolderPresence presence, std::uint32_t nearest) {
    if (presence >= best_[file].presence) return;
    std::string missing;
    if (is_covered(presence))
      missing = find_recording_without_copy(library_.files[file].companions, library_.files[nearest].companions);
    if (is_covered(presence) && missing.empty()) missing = name_uncopied_holding(library_, origins_, file, nearest);
    if (is_covered(presence) && missing.empty() && is_whole(file) && !is_whole(nearest))
      missing = "the pixels that are damaged there";
    if (presence == FolderPresence::interchangeable && missing.empty() &&
        count_differing_bytes(library_.files[file].entry.path, library_.files[nearest].entry.path))
      missing = "the bytes that differ (one of the two is probably damaged)";
    if (!missing.empty()) presence = FolderPresence::less;
    if (presence < best_[file].presence) best_[file] = {presence, nearest, std::move(missing)};
  }

  // A file may have names in both folders.
  void add_names(std::uint32_t f, std::vector<FilePresence>& out) const {
    const LibraryFile& file = library_.files[f];
    std::vector<std::string> names = file.hard_links;
    names.push_back(file.entry.path);
    const auto folder_of_name = [&](const std::string& name) { return is_inside(name, folders_[0]) ? 0U : 1U; };
    for (const std::string& name : names) {
      const std::size_t folder = folder_of_name(name);
      const auto other =
          std::find_if(names.begin(), names.end(), [&](const std::string& n) { return folder_of_name(n) != folder; });
      const Best& best = best_[f];
      FilePresence presence{name, folder, best.presence, "", best.missing, false};
      if (best.nearest != kNone) {
        presence.nearest = library_.files[best.nearest].entry.path;
        presence.by_preview = best.presence != FolderPresence::bytes && (is_raw(f) || is_raw(best.nearest));
      }
      if (other != names.end()) presence = {name, folder, FolderPresence::bytes, *other, "", false};
      out.push_back(std::move(presence));
    }
  }

  void note_copies(const LibraryPicture& picture) {
    for (const std::uint32_t f : picture.files) {
      for (const std::uint32_t g : picture.files) {
        if (album(g) != album(f)) record_if_better(f, FolderPresence::bytes, g);
      }
    }
  }

  void note_alike(const Group& group) {
    for (const GroupMember& m : group.members) {
      const auto other = std::find_if(group.members.begin(), group.members.end(),
                                      [&](const GroupMember& n) { return album(n.file) != album(m.file); });
      if (other != group.members.end()) record_if_better(m.file, FolderPresence::alike, other->file);
    }
  }

  // Pairs each picture of a group with the first few of the other folder, those to keep before the others.
  void add_pairs(const Group& group, std::vector<PicturePair>& pairs) const {
    constexpr std::size_t kMaxPartners = 4;
    std::map<std::uint32_t, std::vector<std::uint32_t>> pictures;  // of each album, in the group's order
    for (const GroupMember& m : group.members) {
      auto& list = pictures[album(m.file)];
      const std::uint32_t picture = library_.files[m.file].picture;
      if (std::find(list.begin(), list.end(), picture) == list.end()) list.push_back(picture);
    }
    for (const auto& [one, some] : pictures) {
      for (const auto& [other, others] : pictures) {
        if (one == other) continue;
        for (const std::uint32_t a : some) {
          for (std::size_t i = 0; i < std::min(kMaxPartners, others.size()); ++i) {
            if (a != others[i]) pairs.emplace_back(std::minmax(a, others[i]));
          }
        }
      }
    }
  }

  // Records a picture, and another that would be kept in its place.
  void note(std::uint32_t kept, std::uint32_t picture, RelationToKeeper relation, bool same_pixels) {
    const FolderPresence presence =
        relation == RelationToKeeper::same ? same_pixels ? FolderPresence::pixels : FolderPresence::interchangeable
        : relation == RelationToKeeper::shows_more || relation == RelationToKeeper::has_more_detail ||
                relation == RelationToKeeper::contains
            ? FolderPresence::less
            : FolderPresence::alike;
    for (const std::uint32_t f : library_.pictures[picture].files) {
      for (const std::uint32_t g : library_.pictures[kept].files) {
        if (album(g) != album(f)) record_if_better(f, presence, g);
      }
    }
  }

  const Library& library_;
  const std::array<std::string, 2>& folders_;
  const Origins& origins_;
  PairComparator& comparator_;
  std::vector<Best> best_;  // of each file
};

}  // namespace

const char* name_of(FolderPresence presence) {
  switch (presence) {
    case FolderPresence::bytes:
      return "bytes";
    case FolderPresence::pixels:
      return "pixels";
    case FolderPresence::interchangeable:
      return "as good";
    case FolderPresence::less:
      return "less";
    case FolderPresence::alike:
      return "alike";
    case FolderPresence::absent:
      break;
  }
  return "absent";
}

std::vector<FilePresence> compare_folders(const SearchResult& found, const std::array<std::string, 2>& folders,
                                          const Origins& origins, PairComparator& comparator) {
  return FolderComparator(found, folders, origins, comparator).run(found);
}

}  // namespace millrace::dedupe
