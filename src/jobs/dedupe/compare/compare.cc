#include "src/jobs/dedupe/compare/compare.h"

#include <algorithm>
#include <map>

#include "src/base/paths.h"
#include "src/jobs/dedupe/scan/companions.h"
#include "src/jobs/dedupe/suggest/keep.h"
#include "src/jobs/dedupe/suggest/rot.h"

namespace millrace::dedupe {
namespace {

class Comparing {
 public:
  Comparing(const SearchResult& found, const std::array<std::string, 2>& folders, const Origins& origins, Looks& looks)
      : library_(found.library), folders_(folders), origins_(origins), looks_(looks), best_(library_.files.size()) {}

  std::vector<HeldFile> run(const SearchResult& found) {
    for (const Picture& picture : library_.pictures) note_copies(picture);
    for (const auto* list : {&found.groups, &found.related}) {
      for (const Group& group : *list) note_alike(group);
    }
    std::vector<PicturePair> pairs;
    for (const Group& group : found.groups) {
      if (group.kind <= GroupKind::similar) add_pairs(group, pairs);
    }
    std::sort(pairs.begin(), pairs.end());
    looks_.look(pairs);
    for (const auto& [a, b] : pairs) {
      if (const CloseLook* const look = looks_.find(a, b)) {
        note(a, b, standing_of(*look, true), look->same_pixels);
        note(b, a, standing_of(*look, false), look->same_pixels);
      }
    }
    std::vector<HeldFile> out;
    for (const Picture& picture : library_.pictures) {
      for (const std::uint32_t f : picture.files) add_names(f, out);
    }
    std::sort(out.begin(), out.end(), [](const HeldFile& a, const HeldFile& b) { return a.path < b.path; });
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
    Held held = Held::absent;
    std::uint32_t by = kNone;
    std::string missing;
  };

  void better(std::uint32_t file, Held held, std::uint32_t by) {
    if (held >= best_[file].held) return;
    std::string missing;
    if (is_there(held))
      missing = recording_without_copy(library_.files[file].companions, library_.files[by].companions);
    if (is_there(held) && missing.empty()) missing = held_alone(library_, origins_, file, by);
    if (is_there(held) && missing.empty() && is_whole(file) && !is_whole(by)) missing = "what is damaged there";
    if (held == Held::as_good && missing.empty() &&
        few_that_differ(library_.files[file].entry.path, library_.files[by].entry.path))
      missing = "what is damaged in one of the two";
    if (!missing.empty()) held = Held::less;
    if (held < best_[file].held) best_[file] = {held, by, std::move(missing)};
  }

  // A file may have names in both folders.
  void add_names(std::uint32_t f, std::vector<HeldFile>& out) const {
    const File& file = library_.files[f];
    std::vector<std::string> names = file.hard_links;
    names.push_back(file.entry.path);
    const auto folder_of_name = [&](const std::string& name) { return inside(name, folders_[0]) ? 0U : 1U; };
    for (const std::string& name : names) {
      const std::size_t folder = folder_of_name(name);
      const auto other =
          std::find_if(names.begin(), names.end(), [&](const std::string& n) { return folder_of_name(n) != folder; });
      const Best& best = best_[f];
      HeldFile held{name, folder, best.held, "", best.missing, false};
      if (best.by != kNone) {
        held.by = library_.files[best.by].entry.path;
        held.by_preview = best.held != Held::bytes && (is_raw(f) || is_raw(best.by));
      }
      if (other != names.end()) held = {name, folder, Held::bytes, *other, "", false};
      out.push_back(std::move(held));
    }
  }

  void note_copies(const Picture& picture) {
    for (const std::uint32_t f : picture.files) {
      for (const std::uint32_t g : picture.files) {
        if (album(g) != album(f)) better(f, Held::bytes, g);
      }
    }
  }

  void note_alike(const Group& group) {
    for (const Member& m : group.members) {
      const auto other = std::find_if(group.members.begin(), group.members.end(),
                                      [&](const Member& n) { return album(n.file) != album(m.file); });
      if (other != group.members.end()) better(m.file, Held::alike, other->file);
    }
  }

  // Pairs each picture of a group with the first few of the other folder, those to keep before the others.
  void add_pairs(const Group& group, std::vector<PicturePair>& pairs) const {
    constexpr std::size_t kMost = 4;
    std::map<std::uint32_t, std::vector<std::uint32_t>> pictures;  // of each album, in the group's order
    for (const Member& m : group.members) {
      auto& list = pictures[album(m.file)];
      const std::uint32_t picture = library_.files[m.file].picture;
      if (std::find(list.begin(), list.end(), picture) == list.end()) list.push_back(picture);
    }
    for (const auto& [one, some] : pictures) {
      for (const auto& [other, others] : pictures) {
        if (one == other) continue;
        for (const std::uint32_t a : some) {
          for (std::size_t i = 0; i < std::min(kMost, others.size()); ++i) {
            if (a != others[i]) pairs.emplace_back(std::minmax(a, others[i]));
          }
        }
      }
    }
  }

  // Records a picture and another, `stays`, that would be kept in its place.
  void note(std::uint32_t stays, std::uint32_t picture, Standing standing, bool same_pixels) {
    const Held held =
        standing == Standing::same ? same_pixels ? Held::pixels : Held::as_good
        : standing == Standing::shows_more || standing == Standing::has_more_detail || standing == Standing::contains
            ? Held::less
            : Held::alike;
    for (const std::uint32_t f : library_.pictures[picture].files) {
      for (const std::uint32_t g : library_.pictures[stays].files) {
        if (album(g) != album(f)) better(f, held, g);
      }
    }
  }

  const Library& library_;
  const std::array<std::string, 2>& folders_;
  const Origins& origins_;
  Looks& looks_;
  std::vector<Best> best_;  // of each file
};

}  // namespace

const char* name_of(Held held) {
  switch (held) {
    case Held::bytes:
      return "bytes";
    case Held::pixels:
      return "pixels";
    case Held::as_good:
      return "as good";
    case Held::less:
      return "less";
    case Held::alike:
      return "alike";
    case Held::absent:
      break;
  }
  return "absent";
}

std::vector<HeldFile> compare_folders(const SearchResult& found, const std::array<std::string, 2>& folders,
                                      const Origins& origins, Looks& looks) {
  return Comparing(found, folders, origins, looks).run(found);
}

}  // namespace millrace::dedupe
