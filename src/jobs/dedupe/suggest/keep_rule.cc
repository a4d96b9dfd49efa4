#include "src/jobs/dedupe/suggest/keep_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/jobs/dedupe/scan/companions.h"

namespace millrace::dedupe {
namespace {

const CatalogPicture& picture_of(const Library& library, std::uint32_t file) {
  return library.pictures[library.files[file].picture].data;
}

// Holdings that make a file the better one to keep. Others do not: a profile may mean the same colours, and samples of
// 16 bits may come from a camera's 8. Pages may come from several pictures, and RAW files have a criterion of their
// own.
bool is_better_holding(const ExtraData& item) {
  switch (item.what) {
    case ExtraDataKind::video:
    case ExtraDataKind::sound:
    case ExtraDataKind::picture:
    case ExtraDataKind::sequence:
      return true;
    default:
      return false;
  }
}
std::ptrdiff_t count_better_holdings(const std::vector<ExtraData>& extra_data) {
  return std::count_if(extra_data.begin(), extra_data.end(), is_better_holding);
}
const char* name_better_holding(const std::vector<ExtraData>& extra_data) {
  return describe_extra_data(std::find_if(extra_data.begin(), extra_data.end(), is_better_holding)->what);
}

// True for a phone's original HEIF file. A larger JPEG was made from it.
bool is_cameras_heif(const Library& library, const Origins& origins, std::uint32_t file) {
  constexpr int kCameraOriginal = 4;
  const CatalogPicture& picture = picture_of(library, file);
  return static_cast<ImageFormat>(picture.format) == ImageFormat::heif &&
         score_originality(origins.find_provenance(file), library.files[file].entry.path, picture) == kCameraOriginal;
}

// Below zero if `a` is better, above zero if `b` is, 0 if the criterion does not decide.
int compare_by_criterion(const Library& library, const Origins& origins, const std::string& criterion, std::uint32_t a,
                         std::uint32_t b) {
  const LibraryFile& fa = library.files[a];
  const LibraryFile& fb = library.files[b];
  const CatalogPicture& pa = picture_of(library, a);
  const CatalogPicture& pb = picture_of(library, b);
  const auto more = [](auto x, auto y) { return x > y ? -1 : x < y ? 1 : 0; };
  const auto pixels = [](const CatalogPicture& p) { return static_cast<std::int64_t>(p.width) * p.height; };
  if (criterion == "reference") return more(fa.reference, fb.reference);
  if (criterion == "whole") return more(pa.damage.empty(), pb.damage.empty());
  if (criterion == "held")
    return more(count_better_holdings(origins.find_provenance(a).extra_data),
                count_better_holdings(origins.find_provenance(b).extra_data));
  if (criterion == "preferred") return more(fb.preferred, fa.preferred);
  if (criterion == "raw") return more(fa.has_raw, fb.has_raw);
  if (criterion == "original")
    return more(score_originality(origins.find_provenance(a), fa.entry.path, pa),
                score_originality(origins.find_provenance(b), fb.entry.path, pb));
  if (criterion == "given") {
    // A sidecar counts as a person's work, whatever it contains.
    return more(score_user_metadata(origins.find_provenance(a)) + (fa.companions.empty() ? 0 : 1),
                score_user_metadata(origins.find_provenance(b)) + (fb.companions.empty() ? 0 : 1));
  }
  if (criterion == "pixels") return more(pixels(pa), pixels(pb));
  if (criterion == "bytes") {
    const int heif = more(is_cameras_heif(library, origins, a), is_cameras_heif(library, origins, b));
    return heif != 0 ? heif : more(fa.entry.size, fb.entry.size);
  }
  if (criterion == "exif") return more(pa.exif_fields, pb.exif_fields);
  if (criterion == "shortest") return more(fb.entry.path.size(), fa.entry.path.size());
  if (criterion == "oldest") {
    // A capture time counts before a file's time, which every copying changes.
    if (pa.taken.empty() != pb.taken.empty()) return pa.taken.empty() ? 1 : -1;
    if (!pa.taken.empty() && pa.taken != pb.taken) return pa.taken < pb.taken ? -1 : 1;
    return more(fb.entry.mtime_ns, fa.entry.mtime_ns);
  }
  return 0;
}

std::string value_of(const Library& library, const std::string& criterion, std::uint32_t file) {
  const LibraryFile& f = library.files[file];
  const CatalogPicture& p = picture_of(library, file);
  if (criterion == "pixels") return fmt::format("{} x {}", p.width, p.height);
  if (criterion == "bytes") return format_bytes(Bytes{f.entry.size});
  if (criterion == "exif") return fmt::format("{} EXIF fields", p.exif_fields);
  return "";
}

std::string explain_keeping(const Library& library, const Origins& origins, const std::string& criterion,
                            std::uint32_t best, std::uint32_t next) {
  if (criterion == "reference") return "in a reference folder";
  if (criterion == "whole") return "not damaged; the other one is";
  if (criterion == "held") return fmt::format("has {}", name_better_holding(origins.find_provenance(best).extra_data));
  if (criterion == "preferred") return "preferred";
  if (criterion == "raw") return "has its RAW file";
  if (criterion == "original") return "closest to the camera's original";
  if (criterion == "given") return "has stars, keywords, names or a place";
  if (criterion == "bytes" && is_cameras_heif(library, origins, best) && !is_cameras_heif(library, origins, next))
    return "the camera's own HEIF file";
  if (criterion == "pixels" || criterion == "bytes" || criterion == "exif") {
    return fmt::format("{} against {}", value_of(library, criterion, best), value_of(library, criterion, next));
  }
  if (criterion == "oldest") return "the oldest";
  if (criterion == "shortest") return "the shortest path";
  return "the first by name";
}

// Returns the file's name, with enough parent folders to distinguish it from a file of the same name.
std::string name_of_file(const Library& library, std::uint32_t file, std::uint32_t beside) {
  return escape_unprintable(shortest_distinct_suffix(library.files[file].entry.path, library.files[beside].entry.path));
}

std::string explain_removal(const Library& library, const Origins& origins, const std::string& criterion,
                            std::uint32_t kept, std::uint32_t file) {
  const std::string name = name_of_file(library, kept, file);
  if (criterion == "reference") return fmt::format("{} is in a reference folder", name);
  if (criterion == "whole") return fmt::format("damaged; {} is not", name);
  if (criterion == "held")
    return fmt::format("{} has {}", name, name_better_holding(origins.find_provenance(kept).extra_data));
  if (criterion == "preferred") return fmt::format("{} is preferred", name);
  if (criterion == "raw") return fmt::format("{} has its RAW file", name);
  if (criterion == "original") return fmt::format("{} is closer to the camera's original", name);
  if (criterion == "given") return fmt::format("{} has more stars, keywords, names or places", name);
  if (criterion == "pixels") return fmt::format("fewer pixels than {}: {}", name, value_of(library, criterion, file));
  if (criterion == "bytes" && is_cameras_heif(library, origins, kept) && !is_cameras_heif(library, origins, file))
    return fmt::format("{} is the camera's own HEIF file", name);
  if (criterion == "bytes") return fmt::format("smaller file than {}: {}", name, value_of(library, criterion, file));
  if (criterion == "exif") return fmt::format("fewer EXIF fields than {}", name);
  if (criterion == "oldest") return fmt::format("{} is older", name);
  if (criterion == "shortest") return fmt::format("{} has the shorter path", name);
  return fmt::format("{} comes first by name", name);
}

}  // namespace

std::string name_uncopied_holding(const Library& library, const Origins& origins, std::uint32_t file,
                                  std::uint32_t other) {
  if (library.files[other].picture == library.files[file].picture) return "";
  const auto lacking =
      find_missing_kind(origins.find_provenance(other).extra_data, origins.find_provenance(file).extra_data);
  return lacking ? describe_extra_data(*lacking) : "";
}

std::pair<int, std::string> compare_by_keep_rule(const Library& library, const Origins& origins, std::uint32_t a,
                                                 std::uint32_t b, const std::vector<std::string>& criteria) {
  for (const std::string& criterion : criteria) {
    if (const int c = compare_by_criterion(library, origins, criterion, a, b); c != 0) return {c, criterion};
  }
  return {library.files[a].entry.path < library.files[b].entry.path ? -1 : 1, ""};
}

std::vector<std::uint32_t> sort_by_keep_rule(const Library& library, const Origins& origins,
                                             std::vector<std::uint32_t> files,
                                             const std::vector<std::string>& criteria) {
  std::sort(files.begin(), files.end(), [&](std::uint32_t a, std::uint32_t b) {
    return a != b && compare_by_keep_rule(library, origins, a, b, criteria).first < 0;
  });
  return files;
}

std::vector<GroupMember> choose_kept_members(const Library& library, const Origins& origins,
                                             const std::vector<std::uint32_t>& files,
                                             const std::vector<std::string>& criteria, const Keeper& keeper) {
  const auto leads = [&](std::uint32_t file) { return library.files[file].picture == keeper.picture; };
  const auto deciding = [&](std::uint32_t a, std::uint32_t b) {
    return compare_by_keep_rule(library, origins, a, b, criteria);
  };
  std::vector<GroupMember> members;
  for (const std::uint32_t file : sort_by_keep_rule(library, origins, files, criteria))
    members.push_back({file, false, ""});
  std::stable_partition(members.begin(), members.end(), [&](const GroupMember& m) { return leads(m.file); });
  GroupMember& best = members[0];
  best.keep = true;
  if (keeper.picture != kNone) {
    best.why = keeper.why;
  } else if (members.size() > 1) {
    best.why =
        explain_keeping(library, origins, deciding(best.file, members[1].file).second, best.file, members[1].file);
  }
  const LibraryFile& kept = library.files[best.file];
  const bool kept_whole = picture_of(library, best.file).damage.empty();
  for (std::size_t i = 1; i < members.size(); ++i) {
    GroupMember& m = members[i];
    const LibraryFile& file = library.files[m.file];
    if (file.reference) {
      m.keep = true;
      m.why = "in a reference folder";
    } else if (file.has_raw && !kept.has_raw) {
      m.keep = true;
      m.why = "its RAW file has no copy";
    } else if (file.has_video && !kept.has_video) {
      m.keep = true;
      m.why = "its video has no copy";
    } else if (const std::string alone = find_recording_without_copy(file.companions, kept.companions);
               !alone.empty()) {
      m.keep = true;
      m.why = fmt::format("{} has no copy", escape_unprintable(file_name(alone)));
    } else if (const std::string held = name_uncopied_holding(library, origins, m.file, best.file); !held.empty()) {
      m.keep = true;
      m.why = fmt::format("{} has no copy", held);
    } else if (!kept_whole && picture_of(library, m.file).damage.empty()) {
      // This happens only if the criteria were changed, or if the reference itself is damaged.
      m.keep = true;
      m.why = "not damaged; the kept one is";
    } else if (const auto decided = deciding(best.file, m.file); decided.first > 0) {
      m.why = fmt::format("{} {}", keeper.why_not(file.picture), name_of_file(library, best.file, m.file));
    } else {
      m.why = explain_removal(library, origins, decided.second, best.file, m.file);
    }
  }
  return members;
}

void warn_of_losses(const Library& library, const Origins& origins, const Keeper& keeper,
                    std::vector<GroupMember>& members) {
  std::string& out = members[0].warning;
  for (const char* criterion : {"pixels", "given", "exif"}) {
    // For a crop of the keeper and for an enlargement, the number of pixels means nothing.
    if (keeper.picture != kNone && criterion == std::string_view("pixels")) continue;
    for (const GroupMember& m : members) {
      if (m.keep || compare_by_criterion(library, origins, criterion, members[0].file, m.file) <= 0) continue;
      const std::string value = value_of(library, criterion, m.file);
      out += fmt::format("{}{} has {}", out.empty() ? "" : "; ", name_of_file(library, m.file, members[0].file),
                         criterion == std::string_view("pixels") ? fmt::format("more pixels, {}", value)
                         : value.empty()                         ? "more stars, keywords, names or places"
                                                                 : value);
      break;
    }
  }
}

void keep_picture(const Library& library, std::uint32_t picture, const char* why, std::vector<GroupMember>& members) {
  for (std::size_t i = 1; i < members.size(); ++i) {
    if (library.files[members[i].file].picture != picture) continue;
    members[i].keep = true;
    members[i].why = fmt::format("{} {}", why, name_of_file(library, members[0].file, members[i].file));
    break;
  }
}

void keep_one_file_per_picture(const Library& library, std::vector<GroupMember>& members) {
  std::map<std::uint32_t, std::uint32_t> first;  // kept file of each picture
  for (GroupMember& m : members) {
    const auto [at, fresh] = first.try_emplace(library.files[m.file].picture, m.file);
    if (m.keep) continue;
    m.keep = fresh;
    m.why = fresh ? "not checked in detail"
                  : fmt::format("the same bytes as {}", name_of_file(library, at->second, m.file));
  }
}

}  // namespace millrace::dedupe
