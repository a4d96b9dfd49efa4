#include "src/jobs/dedupe/group/appearance_groups.h"

#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <compare>
#include <map>
#include <tuple>
#include <unordered_map>

#include "src/io/image/exif.h"
#include "src/kernels/hash_quality/hash_quality.h"

namespace millrace::dedupe {
namespace {

constexpr double kMaxPause = 1.0;
constexpr std::size_t kMinShots = 3;

// Shot in progress, to which pictures are added one after another.
struct ShotInProgress {
  std::uint32_t first;
  double seconds;
  bool exact;  // one of its pictures has sub-seconds, which `seconds` includes
};

bool is_confirmed_distinct(const ConfirmedDistinct& confirmed_distinct, std::uint32_t picture,
                           const std::vector<std::uint32_t>& others) {
  const auto from = confirmed_distinct.find(picture);
  if (from == confirmed_distinct.end()) return false;
  return std::any_of(from->second.begin(), from->second.end(),
                     [&](std::uint32_t p) { return std::binary_search(others.begin(), others.end(), p); });
}

bool can_join(const AppearanceGroupPart& a, const AppearanceGroupPart& b, const ConfirmedDistinct& confirmed_distinct) {
  if (a.burst != kNone && a.burst == b.burst && a.shot != b.shot) return false;
  // A part with a confirmed distinct picture holds that picture alone.
  return !is_confirmed_distinct(confirmed_distinct, a.pictures[0], b.pictures);
}

// Makes appearance groups from parts that come in order: by key, album, burst and shot.
class AppearanceGroupBuilder {
 public:
  AppearanceGroupBuilder(const ConfirmedDistinct& confirmed_distinct, std::vector<AppearanceGroup>& appearance_groups)
      : confirmed_distinct_(confirmed_distinct), appearance_groups_(appearance_groups) {}

  void next_key() {
    if (!appearance_groups_.empty()) ++key_;
    next_album();
  }
  void next_album() {
    first_ = lowest_ = appearance_groups_.size();
    burst_ = kNone;
  }

  AppearanceGroup& add(AppearanceGroupPart part) {
    const bool marked = confirmed_distinct_.count(part.pictures[0]) > 0;
    if (part.burst != burst_) lowest_ = first_;
    burst_ = part.burst;
    // Each shot of a burst starts its search where the one before it ended: appearance groups that an earlier shot
    // filled stay filled.
    while (lowest_ < appearance_groups_.size() && has_other_shot(appearance_groups_[lowest_], part)) ++lowest_;
    std::size_t at = lowest_;
    while (at < appearance_groups_.size() &&
           (has_other_shot(appearance_groups_[at], part) || (marked && has_confirmed_distinct(at, part))))
      ++at;
    if (at == appearance_groups_.size()) appearance_groups_.emplace_back().key = key_;
    if (marked) appearance_group_of_[part.pictures[0]] = at;
    AppearanceGroup& appearance_group = appearance_groups_[at];
    if (part.burst == kNone && !marked && appearance_group.parts.empty()) {
      appearance_group.pictures = std::move(part.pictures);
      return appearance_group;
    }
    if (appearance_group.parts.empty() && !appearance_group.pictures.empty())
      appearance_group.parts.push_back({appearance_group.pictures, kNone, 0});
    appearance_group.pictures.insert(appearance_group.pictures.end(), part.pictures.begin(), part.pictures.end());
    appearance_group.parts.push_back(std::move(part));
    return appearance_group;
  }

 private:
  static bool has_other_shot(const AppearanceGroup& appearance_group, const AppearanceGroupPart& part) {
    if (part.burst == kNone || appearance_group.parts.empty()) return false;
    const AppearanceGroupPart& last = appearance_group.parts.back();
    return last.burst == part.burst && last.shot != part.shot;
  }
  bool has_confirmed_distinct(std::size_t appearance_group, const AppearanceGroupPart& part) const {
    const std::set<std::uint32_t>& others = confirmed_distinct_.at(part.pictures[0]);
    return std::any_of(others.begin(), others.end(), [&](std::uint32_t p) {
      const auto at = appearance_group_of_.find(p);
      return at != appearance_group_of_.end() && at->second == appearance_group;
    });
  }

  const ConfirmedDistinct& confirmed_distinct_;
  std::vector<AppearanceGroup>& appearance_groups_;
  std::uint32_t key_ = 0;
  std::size_t first_ = 0;                                               // first appearance group of this key and album
  std::size_t lowest_ = 0;                                              // none before it admits a part of this burst
  std::uint32_t burst_ = kNone;                                         // burst of the last part
  std::unordered_map<std::uint32_t, std::size_t> appearance_group_of_;  // of confirmed distinct pictures
};

}  // namespace

std::vector<Burst> find_bursts(const Library& library, const std::function<bool(std::uint32_t, std::uint32_t)>& same) {
  struct TimedPicture {
    std::uint32_t camera;  // number of a camera and album, in the order of occurrence; only equality matters
    double seconds;
    std::uint32_t picture;
  };
  std::vector<TimedPicture> taken;
  std::map<std::pair<std::string_view, std::uint32_t>, std::uint32_t> cameras;
  for (std::uint32_t i = 0; i < library.pictures.size(); ++i) {
    const CatalogPicture& p = library.pictures[i].data;
    if (library.pictures[i].files.empty() || p.camera.empty() || p.taken.empty()) continue;
    const std::uint32_t camera =
        cameras.try_emplace({p.camera, library.pictures[i].album}, static_cast<std::uint32_t>(cameras.size()))
            .first->second;
    taken.push_back({camera, parse_fractional_capture_second(p.taken, p.subsecond), i});
  }
  oneapi::tbb::parallel_sort(taken.begin(), taken.end(), [](const TimedPicture& a, const TimedPicture& b) {
    return std::tie(a.camera, a.seconds, a.picture) < std::tie(b.camera, b.seconds, b.picture);
  });
  std::vector<Burst> bursts;
  for (std::size_t begin = 0; begin < taken.size();) {
    std::size_t end = begin + 1;
    while (end < taken.size() && taken[end].camera == taken[begin].camera &&
           taken[end].seconds - taken[end - 1].seconds <= kMaxPause) {
      ++end;
    }
    if (end - begin >= kMinShots) {
      Burst burst;
      std::vector<ShotInProgress> shots;
      std::unordered_map<std::string_view, std::vector<std::size_t>>
          open;  // shots that may take another picture, by time
      for (std::size_t i = begin; i < end; ++i) {
        const double seconds = taken[i].seconds;
        const std::uint32_t picture = taken[i].picture;
        const CatalogPicture& p = library.pictures[picture].data;
        const bool exact = !p.subsecond.empty();
        std::vector<std::size_t>& candidates = open[p.taken];
        // A picture must agree with all pictures of its shot. A copy without sub-seconds agrees with several shots of
        // its second, and must not join them. Pictures come by time, so of exact shots only the last one stays open.
        std::erase_if(candidates, [&](std::size_t s) { return shots[s].exact && exact && shots[s].seconds < seconds; });
        const auto found = std::find_if(candidates.begin(), candidates.end(),
                                        [&](std::size_t s) { return same(picture, shots[s].first); });
        const std::size_t shot = found == candidates.end() ? shots.size() : *found;
        if (found == candidates.end()) {
          candidates.push_back(shot);
          shots.push_back({picture, seconds, exact});
        } else if (exact) {
          shots[shot].seconds = seconds;
          shots[shot].exact = true;
        }
        burst.pictures.push_back(picture);
        burst.shots.push_back(static_cast<int>(shot));
      }
      if (shots.size() >= kMinShots) bursts.push_back(std::move(burst));
    }
    begin = end;
  }
  return bursts;
}

std::vector<AppearanceGroup> make_appearance_groups(const Library& library, const std::vector<Burst>& bursts,
                                                    bool bursts_apart, GroupingKey key,
                                                    const ConfirmedDistinct& confirmed_distinct) {
  struct Row {
    std::uint64_t first;  // first word of the key; ties are compared further
    std::uint32_t picture, files;
  };
  const bool by_appearance = key == GroupingKey::appearances;
  std::vector<Row> rows;
  for (std::uint32_t i = 0; i < library.pictures.size(); ++i) {
    const LibraryPicture& picture = library.pictures[i];
    if (!picture.files.empty())
      rows.push_back({by_appearance ? picture.data.thumbnail_digest : picture.data.codes[0], i,
                      static_cast<std::uint32_t>(picture.files.size())});
  }
  std::vector<std::pair<std::uint32_t, int>> burst_of;
  if (bursts_apart && !bursts.empty()) {
    burst_of.resize(library.pictures.size(), {kNone, 0});
    for (std::uint32_t b = 0; b < bursts.size(); ++b) {
      for (std::size_t i = 0; i < bursts[b].pictures.size(); ++i)
        burst_of[bursts[b].pictures[i]] = {b, bursts[b].shots[i]};
    }
  }
  const auto shot_of = [&](std::uint32_t picture) {
    return burst_of.empty() ? std::pair<std::uint32_t, int>(kNone, 0) : burst_of[picture];
  };
  const auto key_order = [&](const Row& a, const Row& b) -> std::strong_ordering {
    if (a.first != b.first || by_appearance) return a.first <=> b.first;
    const CatalogPicture& p = library.pictures[a.picture].data;
    const CatalogPicture& q = library.pictures[b.picture].data;
    if (p.codes != q.codes) return p.codes <=> q.codes;
    // A white page and a red one have the same hashes, which hold no information. Such pictures are distinguished by
    // their appearances.
    const auto rest = [](const CatalogPicture& c) {
      return c.quality <= kQualityGate ? std::optional(c.thumbnail_digest) : std::nullopt;
    };
    return rest(p) <=> rest(q);
  };
  const auto order = [&](const Row& a, const Row& b) -> std::strong_ordering {
    const auto by_key = key_order(a, b);
    if (std::is_neq(by_key)) return by_key;
    const auto album = library.pictures[a.picture].album <=> library.pictures[b.picture].album;
    if (std::is_neq(album)) return album;
    const auto shot = shot_of(a.picture) <=> shot_of(b.picture);
    if (std::is_neq(shot) || confirmed_distinct.empty()) return shot;
    const auto own = [&](std::uint32_t picture) { return confirmed_distinct.count(picture) > 0 ? picture + 1 : 0; };
    return own(a.picture) <=> own(b.picture);
  };
  oneapi::tbb::parallel_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    const auto different = order(a, b);
    return std::is_neq(different) ? std::is_lt(different) : a.picture < b.picture;
  });
  std::vector<AppearanceGroup> appearance_groups;
  appearance_groups.reserve(rows.size());
  AppearanceGroupBuilder filling(confirmed_distinct, appearance_groups);
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    const std::uint32_t album = library.pictures[rows[begin].picture].album;
    if (begin == 0 || std::is_neq(key_order(rows[begin - 1], rows[begin]))) {
      filling.next_key();
    } else if (album != library.pictures[rows[begin - 1].picture].album) {
      filling.next_album();
    }
    const auto [burst, shot] = shot_of(rows[begin].picture);
    AppearanceGroupPart part{{}, burst, shot};
    std::uint32_t files = 0;
    for (; end < rows.size() && std::is_eq(order(rows[begin], rows[end])); ++end) {
      part.pictures.push_back(rows[end].picture);
      files += rows[end].files;
    }
    AppearanceGroup& appearance_group = filling.add(std::move(part));
    appearance_group.files += files;
    appearance_group.album = album;
    if (by_appearance) appearance_group.thumbnail_digest = rows[begin].first;
  }
  for (AppearanceGroup& appearance_group : appearance_groups) {
    if (appearance_group.parts.size() > 1)
      std::sort(appearance_group.pictures.begin(), appearance_group.pictures.end());
    if (!by_appearance)
      appearance_group.thumbnail_digest = library.pictures[appearance_group.pictures[0]].data.thumbnail_digest;
  }
  return appearance_groups;
}

bool is_shot_of_burst(const AppearanceGroup& appearance_group) {
  return std::any_of(appearance_group.parts.begin(), appearance_group.parts.end(),
                     [](const AppearanceGroupPart& part) { return part.burst != kNone; });
}

bool can_join(const AppearanceGroup& a, const AppearanceGroup& b, const ConfirmedDistinct& confirmed_distinct) {
  if (a.album != b.album) return false;
  // Parts are sorted by burst, with at most one shot of each, so both lists are scanned together.
  for (auto x = a.parts.begin(), y = b.parts.begin(); x != a.parts.end() && y != b.parts.end();) {
    if (x->burst == kNone || y->burst == kNone) break;
    if (x->burst == y->burst && x->shot != y->shot) return false;
    if (x->burst <= y->burst) {
      ++x;
    } else {
      ++y;
    }
  }
  return confirmed_distinct.empty() ||
         std::none_of(a.parts.begin(), a.parts.end(), [&](const AppearanceGroupPart& part) {
           return is_confirmed_distinct(confirmed_distinct, part.pictures[0], b.pictures);
         });
}

std::optional<AppearanceGroupPartPair> find_joinable_parts(const AppearanceGroup& a, const AppearanceGroup& b,
                                                           const ConfirmedDistinct& confirmed_distinct) {
  if (a.album != b.album) return std::nullopt;
  if (a.parts.empty() || b.parts.empty()) return AppearanceGroupPartPair{&a.pictures, &b.pictures};
  for (const AppearanceGroupPart& x : a.parts) {
    for (const AppearanceGroupPart& y : b.parts) {
      if (can_join(x, y, confirmed_distinct)) return AppearanceGroupPartPair{&x.pictures, &y.pictures};
    }
  }
  return std::nullopt;
}

}  // namespace millrace::dedupe
