#include "src/jobs/dedupe/scan/companions.h"

#include <dirent.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <tuple>

#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/io/file/relocate.h"
#include "src/io/image/exif.h"

namespace millrace::dedupe {
namespace {

bool is_same_moment(const AssetPicture& a, const AssetPicture& b) {
  return a.taken.empty() || b.taken.empty() || a.taken == b.taken;
}

// Stem of one shot. The stems are a sorted list, since a tree of a million strings takes long to build.
struct Stem {
  std::string key;
  std::uint32_t shot;
  bool operator<(const Stem& other) const { return std::tie(key, shot) < std::tie(other.key, other.shot); }
};

// Returns photo.jpg for photo.jpg.xmp: programs write both photo.xmp and photo.jpg.xmp.
std::string_view strip_extension(std::string_view path) { return path.substr(0, path.find_last_of('.')); }

// Number of characters to which Google Takeout cuts a name before .json, wherever that falls in the picture's name.
constexpr std::size_t kMaxTakeoutName = 46;

// Returns photo.jpg for Google Takeout's photo.jpg.json and photo.jpg.supplemental-metadata.json, also if that is cut.
// Returns photo(1).jpg for photo.jpg.supplemental-metadata(1).json; empty for any other name.
std::string takeout_picture(std::string_view path) {
  constexpr std::string_view kKind = ".supplemental-metadata";
  if (extension(path) != "json") return "";
  std::string_view stem = strip_extension(path), number;
  const std::size_t length = file_name(stem).size();
  if (const std::size_t open = stem.rfind('('); stem.ends_with(')') && open != std::string_view::npos) {
    const std::string_view digits = stem.substr(open + 1, stem.size() - open - 2);
    if (!digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos) {
      number = stem.substr(open);
      stem = stem.substr(0, open);
    }
  }
  if (!has_picture_extension(stem)) {
    const std::string_view name = strip_extension(stem), kind = stem.substr(name.size());
    const bool whole = kind == kKind, cut = length >= kMaxTakeoutName && kKind.starts_with(kind);
    if (!(whole || cut) || !has_picture_extension(name)) return "";
    stem = name;
  }
  const std::string_view name = strip_extension(stem);
  return std::string(name).append(number).append(stem.substr(name.size()));
}

// Returns the picture that a companion's full name contains. Google Takeout names the video of PXL_1.MP.jpg PXL_1.MP.
std::string picture_of(std::string_view companion) {
  std::string named = takeout_picture(companion);
  if (!named.empty()) return named;
  return extension(companion) == "mp" ? std::string(companion) + ".jpg" : std::string(strip_extension(companion));
}

// Returns the stem of the picture for a video named by programs that download Live Photos: IMG_1 for IMG_1_HEVC.MOV.
// Empty for other names.
std::string stem_of_live_video(const std::string& path) {
  if (!is_video(path)) return "";
  const std::string key = stem_key(path);
  for (const std::string_view end : {"_hevc", "_heic", "_live"}) {
    if (key.ends_with(end)) return key.substr(0, key.size() - end.size());
  }
  return "";
}

// Returns the folder and the characters that Takeout keeps of a name.
std::string cut_key(std::string_view path) {
  const std::string_view name = file_name(path);
  return std::string(path.substr(0, path.size() - name.size())) + lower_ascii(name.substr(0, kMaxTakeoutName));
}
bool may_be_cut(std::string_view path) {
  return extension(path) == "json" && file_name(strip_extension(path)).size() == kMaxTakeoutName;
}

bool is_named_after(std::string_view sidecar, std::string_view picture) {
  return lower_ascii(picture_of(sidecar)) == lower_ascii(picture);
}

// Reads the format of a file from its first bytes without decoding it, and the capture time if they hold it.
AssetPicture sniff_picture(const std::string& path) {
  AssetPicture shot{path, ImageFormat::unknown, ""};
  const auto file = FileReader::open(path);
  if (!file) return shot;
  const auto head = (*file)->peek();
  shot.format = sniff_format(head, path);
  if (shot.format == ImageFormat::raw) {
    shot.taken = parse_exif(head).taken;  // most RAW formats are TIFF; for others the time stays unknown
  } else if (shot.format == ImageFormat::jpeg) {
    constexpr std::string_view kMark("Exif\0\0", 6);
    const auto at = std::search(head.begin(), head.end(), kMark.begin(), kMark.end());
    if (at != head.end()) {
      constexpr std::ptrdiff_t kMaxSegment = 65535;
      shot.taken = parse_exif({at, at + std::min(kMaxSegment, head.end() - at)}).taken;
    }
  }
  return shot;
}

}  // namespace

std::string stem_key(std::string_view path) {
  const std::string_view name = file_name(path);
  const std::size_t dot = name.find_last_of('.');
  const std::string_view stem = dot == std::string_view::npos || dot == 0 ? name : name.substr(0, dot);
  return std::string(path.substr(0, path.size() - name.size())) + lower_ascii(stem);
}

bool can_be_companion(const std::string& path) {
  static const std::set<std::string> kinds = {"xmp", "aae", "thm", "mov", "mp4", "m4v",
                                              "avi", "mp",  "wav", "dop", "pp3", "on1"};
  return kinds.count(extension(path)) > 0 || !takeout_picture(path).empty() || may_be_cut(path);
}

bool is_video(const std::string& path) {
  const std::string ext = extension(path);
  return ext == "mov" || ext == "mp4" || ext == "m4v" || ext == "avi" || ext == "mp";
}

bool is_recording(const std::string& path) {
  return is_video(path) || extension(path) == "wav" || sniff_picture(path).format == ImageFormat::raw;
}

bool has_copy(const std::string& file, const std::vector<std::string>& others) {
  return std::any_of(others.begin(), others.end(), [&](const std::string& other) {
    if (extension(file) != extension(other)) return false;
    const auto a = state_of(file), b = state_of(other);
    if (!a || !b || a->size != b->size) return false;
    const auto x = hash_file(file, LinkPolicy::refused), y = hash_file(other, LinkPolicy::refused);
    return x && y && *x == *y;
  });
}

std::string find_recording_without_copy(const std::vector<std::string>& removed, const std::vector<std::string>& kept) {
  for (const std::string& one : removed) {
    if (is_recording(one) && !has_copy(one, kept)) return one;
  }
  return "";
}

AssetAssignment assign_companions(const std::vector<AssetPicture>& shots, const std::vector<std::string>& others) {
  AssetAssignment assets;
  assets.raw_of.assign(shots.size(), AssetAssignment::kNoPicture);
  assets.companion.assign(shots.size(), false);
  assets.sidecars.resize(shots.size());
  std::vector<Stem> stems;
  stems.reserve(shots.size());
  for (std::uint32_t i = 0; i < shots.size(); ++i) stems.push_back({stem_key(shots[i].path), i});
  // The stems are usually sorted like the paths; a million then take half the time.
  if (!std::is_sorted(stems.begin(), stems.end())) std::sort(stems.begin(), stems.end());
  for (auto begin = stems.begin(), end = begin; begin != stems.end(); begin = end) {
    while (end != stems.end() && end->key == begin->key) ++end;
    const auto with_format = [&](ImageFormat format) {
      return std::find_if(begin, end, [&](const Stem& s) { return shots[s.shot].format == format; });
    };
    const auto raw = with_format(ImageFormat::raw);
    if (raw == end) continue;
    auto shown = with_format(ImageFormat::jpeg);
    if (shown == end) shown = with_format(ImageFormat::heif);
    if (shown == end || !is_same_moment(shots[shown->shot], shots[raw->shot])) continue;
    assets.raw_of[shown->shot] = raw->shot;
    assets.companion[raw->shot] = true;
  }
  std::map<std::string, std::vector<std::uint32_t>>
      long_names;  // shots, by the characters of their names that Takeout keeps
  if (std::any_of(others.begin(), others.end(), may_be_cut)) {
    for (std::uint32_t i = 0; i < shots.size(); ++i) {
      if (file_name(shots[i].path).size() > kMaxTakeoutName) long_names[cut_key(shots[i].path)].push_back(i);
    }
  }
  auto here = stems.begin();
  const auto members_of = [&](const std::string& key) {
    const auto before = [](const Stem& stem, const std::string& k) { return stem.key < k; };
    // The names are nearly in the order of the stems, so the next one is usually among the next few.
    constexpr std::ptrdiff_t kNear = 8;
    const auto near = stems.end() - here > kNear ? here + kNear : stems.end();
    const bool close =
        (here == stems.begin() || before(*(here - 1), key)) && (near == stems.end() || !before(*near, key));
    here =
        close ? std::lower_bound(here, near, key, before) : std::lower_bound(stems.begin(), stems.end(), key, before);
    auto end = here;
    while (end != stems.end() && end->key == key) ++end;
    return std::span(here, end);
  };
  for (const std::string& other : others) {
    // A full name decides first. The sidecar of a RAW file goes with the file that represents the asset.
    std::uint32_t owner = AssetAssignment::kNoPicture;
    const auto named = members_of(stem_key(picture_of(other)));
    for (const Stem& stem : named) {
      if (!is_named_after(other, shots[stem.shot].path)) continue;
      const auto shown =
          std::find_if(named.begin(), named.end(), [&](const Stem& s) { return assets.raw_of[s.shot] == stem.shot; });
      owner = shown == named.end() ? stem.shot : shown->shot;
    }
    // The representative of the asset gets the file; among several plain pictures, the first by name.
    const auto by_stem = [&](const std::string& key) {
      const auto members = members_of(key);
      const auto main =
          std::find_if(members.begin(), members.end(), [&](const Stem& s) { return !assets.companion[s.shot]; });
      return main == members.end() ? AssetAssignment::kNoPicture : main->shot;
    };
    if (owner == AssetAssignment::kNoPicture && may_be_cut(other)) {
      // A cut name that fits two pictures is assigned to neither.
      const auto at = long_names.find(cut_key(other));
      if (at != long_names.end() && at->second.size() == 1) owner = at->second[0];
    } else if (owner == AssetAssignment::kNoPicture) {
      owner = by_stem(stem_key(other));
      const std::string live = owner == AssetAssignment::kNoPicture ? stem_of_live_video(other) : "";
      if (!live.empty()) owner = by_stem(live);
    }
    if (owner != AssetAssignment::kNoPicture) assets.sidecars[owner].push_back(other);
  }
  return assets;
}

void CompanionFinder::list_folder(const std::string& folder) {
  if (folder == folder_) return;
  folder_ = folder;
  pictures_.clear();
  others_.clear();
  const std::unique_ptr<DIR, int (*)(DIR*)> handle(::opendir(folder.c_str()), ::closedir);
  if (!handle) return;
  const std::string start = folder == "/" ? "/" : folder + "/";
  std::vector<std::string> live_photo_videos, videos, cut;
  std::map<std::string, std::vector<std::string>> long_names;
  while (const dirent* entry = ::readdir(handle.get())) {
    const std::string name = start + entry->d_name;
    if (has_picture_extension(name)) {
      pictures_[stem_key(name)].push_back(name);
      if (file_name(name).size() > kMaxTakeoutName) long_names[cut_key(name)].push_back(name);
    } else if (can_be_companion(name)) {
      const std::string key = stem_key(name), inner = stem_key(picture_of(name));
      others_[key].push_back(name);
      if (inner != key) others_[inner].push_back(name);
      if (may_be_cut(name)) cut.push_back(name);
      if (!stem_of_live_video(name).empty()) live_photo_videos.push_back(name);
      if (is_video(name)) videos.push_back(name);
    }
  }
  // A video belongs first to a picture of exactly its stem.
  for (const std::string& video : live_photo_videos) {
    if (pictures_.count(stem_key(video)) == 0) others_[stem_of_live_video(video)].push_back(video);
  }
  std::erase_if(videos, [&](const std::string& video) {
    return pictures_.count(stem_key(video)) > 0 || pictures_.count(stem_key(picture_of(video))) > 0 ||
           pictures_.count(stem_of_live_video(video)) > 0;
  });
  live_photo_videos_.try_emplace(folder, videos);
  for (const std::string& json : cut) {
    const auto& named = long_names[cut_key(json)];
    if (named.size() == 1) others_[stem_key(named[0])].push_back(json);
  }
}

Companions CompanionFinder::of(const std::string& path) {
  list_folder(folder_of(path));
  Companions out;
  std::vector<std::string>& pictures = pictures_[stem_key(path)];
  std::vector<std::string>& others = others_[stem_key(path)];
  std::sort(pictures.begin(), pictures.end());
  std::sort(others.begin(), others.end());
  others.erase(std::unique(others.begin(), others.end()), others.end());
  std::vector<AssetPicture> shots;
  shots.reserve(pictures.size());
  for (const std::string& picture : pictures) shots.push_back(sniff_picture(picture));
  const AssetAssignment assets = assign_companions(shots, others);
  const auto self = static_cast<std::size_t>(std::find(pictures.begin(), pictures.end(), path) - pictures.begin());
  if (self == pictures.size()) return out;
  for (std::size_t i = 0; i < shots.size(); ++i) {
    if (i != self && !assets.companion[i]) out.siblings.push_back(pictures[i]);
  }
  out.files = assets.sidecars[self];
  if (assets.raw_of[self] != AssetAssignment::kNoPicture) out.files.push_back(pictures[assets.raw_of[self]]);
  std::sort(out.files.begin(), out.files.end());
  LivePhotoVideos& live = live_photo_videos_.at(folder_);
  std::erase_if(out.files,
                [&](const std::string& file) { return is_video(file) && live.has_other_identifier(file, path); });
  for (const std::string& file : out.files) out.shared.push_back(!out.siblings.empty() && !is_named_after(file, path));
  add_live_photo_videos(path, out);
  return out;
}

void CompanionFinder::add_live_photo_videos(const std::string& path, Companions& to) {
  LivePhotoVideos& live = live_photo_videos_.at(folder_);
  const std::vector<std::string> videos = live.of(path);
  if (videos.empty()) return;
  std::vector<std::string> others;
  for (const auto& [stem, pictures] : pictures_) {
    for (const std::string& picture : pictures) {
      if (picture != path && live.of(picture) == videos) others.push_back(picture);
    }
  }
  for (const std::string& video : videos) {
    const auto at = std::lower_bound(to.files.begin(), to.files.end(), video);
    to.shared.insert(to.shared.begin() + (at - to.files.begin()), !others.empty());
    to.files.insert(at, video);
  }
  for (const std::string& other : others) {
    if (std::find(to.siblings.begin(), to.siblings.end(), other) == to.siblings.end()) to.siblings.push_back(other);
  }
}

}  // namespace millrace::dedupe
