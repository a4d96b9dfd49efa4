#include "src/jobs/dedupe/group/units.h"

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

constexpr double kLongestPause = 1.0;
constexpr std::size_t kFewestShots = 3;

// Shot in progress, to which pictures are added one after another.
struct Moment {
  std::uint32_t first;
  double seconds;
  bool exact;  // one of its pictures has sub-seconds, which `seconds` includes
};

bool told_apart(const NotDuplicates& not_duplicates, std::uint32_t picture, const std::vector<std::uint32_t>& others) {
  const auto from = not_duplicates.find(picture);
  if (from == not_duplicates.end()) return false;
  return std::any_of(from->second.begin(), from->second.end(),
                     [&](std::uint32_t p) { return std::binary_search(others.begin(), others.end(), p); });
}

bool may_join(const Part& a, const Part& b, const NotDuplicates& not_duplicates) {
  if (a.burst != kNone && a.burst == b.burst && a.shot != b.shot) return false;
  return !told_apart(not_duplicates, a.pictures[0],
                     b.pictures);  // if it was told apart, the part holds that picture alone
}

// Makes units from parts that come in order: by key, album, burst and shot.
class Filling {
 public:
  Filling(const NotDuplicates& not_duplicates, std::vector<Unit>& units)
      : not_duplicates_(not_duplicates), units_(units) {}

  void next_key() {
    if (!units_.empty()) ++key_;
    next_album();
  }
  void next_album() {
    first_ = lowest_ = units_.size();
    burst_ = kNone;
  }

  Unit& add(Part part) {
    const bool marked = not_duplicates_.count(part.pictures[0]) > 0;
    if (part.burst != burst_) lowest_ = first_;
    burst_ = part.burst;
    // Each shot of a burst starts its search where the one before it ended: units that an earlier shot filled stay
    // filled.
    while (lowest_ < units_.size() && has_other_shot(units_[lowest_], part)) ++lowest_;
    std::size_t at = lowest_;
    while (at < units_.size() && (has_other_shot(units_[at], part) || (marked && holds_one_told_apart(at, part)))) ++at;
    if (at == units_.size()) units_.emplace_back().key = key_;
    if (marked) unit_of_[part.pictures[0]] = at;
    Unit& unit = units_[at];
    if (part.burst == kNone && !marked && unit.parts.empty()) {
      unit.pictures = std::move(part.pictures);
      return unit;
    }
    if (unit.parts.empty() && !unit.pictures.empty()) unit.parts.push_back({unit.pictures, kNone, 0});
    unit.pictures.insert(unit.pictures.end(), part.pictures.begin(), part.pictures.end());
    unit.parts.push_back(std::move(part));
    return unit;
  }

 private:
  static bool has_other_shot(const Unit& unit, const Part& part) {
    if (part.burst == kNone || unit.parts.empty()) return false;
    const Part& last = unit.parts.back();
    return last.burst == part.burst && last.shot != part.shot;
  }
  bool holds_one_told_apart(std::size_t unit, const Part& part) const {
    const std::set<std::uint32_t>& others = not_duplicates_.at(part.pictures[0]);
    return std::any_of(others.begin(), others.end(), [&](std::uint32_t p) {
      const auto at = unit_of_.find(p);
      return at != unit_of_.end() && at->second == unit;
    });
  }

  const NotDuplicates& not_duplicates_;
  std::vector<Unit>& units_;
  std::uint32_t key_ = 0;
  std::size_t first_ = 0;                                   // first unit of this key and album
  std::size_t lowest_ = 0;                                  // no unit before it takes a part of this burst
  std::uint32_t burst_ = kNone;                             // burst of the last part
  std::unordered_map<std::uint32_t, std::size_t> unit_of_;  // of pictures told apart
};

}  // namespace

std::vector<Burst> find_bursts(const Library& library, const std::function<bool(std::uint32_t, std::uint32_t)>& same) {
  struct Taken {
    std::uint32_t camera;  // number of a camera and album, in the order of occurrence; only equality matters
    double seconds;
    std::uint32_t picture;
  };
  std::vector<Taken> taken;
  std::map<std::pair<std::string_view, std::uint32_t>, std::uint32_t> cameras;
  for (std::uint32_t i = 0; i < library.pictures.size(); ++i) {
    const CatalogPicture& p = library.pictures[i].data;
    if (library.pictures[i].files.empty() || p.camera.empty() || p.taken.empty()) continue;
    const std::uint32_t camera =
        cameras.try_emplace({p.camera, library.pictures[i].album}, static_cast<std::uint32_t>(cameras.size()))
            .first->second;
    taken.push_back({camera, capture_seconds(p.taken, p.subsecond), i});
  }
  oneapi::tbb::parallel_sort(taken.begin(), taken.end(), [](const Taken& a, const Taken& b) {
    return std::tie(a.camera, a.seconds, a.picture) < std::tie(b.camera, b.seconds, b.picture);
  });
  std::vector<Burst> bursts;
  for (std::size_t begin = 0; begin < taken.size();) {
    std::size_t end = begin + 1;
    while (end < taken.size() && taken[end].camera == taken[begin].camera &&
           taken[end].seconds - taken[end - 1].seconds <= kLongestPause) {
      ++end;
    }
    if (end - begin >= kFewestShots) {
      Burst burst;
      std::vector<Moment> shots;
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
      if (shots.size() >= kFewestShots) bursts.push_back(std::move(burst));
    }
    begin = end;
  }
  return bursts;
}

std::vector<Unit> make_units(const Library& library, const std::vector<Burst>& bursts, bool bursts_apart,
                             GroupingKey key, const NotDuplicates& not_duplicates) {
  struct Row {
    std::uint64_t first;  // first word of the key; ties are compared further
    std::uint32_t picture, files;
  };
  const bool by_appearance = key == GroupingKey::appearances;
  std::vector<Row> rows;
  for (std::uint32_t i = 0; i < library.pictures.size(); ++i) {
    const Picture& picture = library.pictures[i];
    if (!picture.files.empty())
      rows.push_back({by_appearance ? picture.data.appearance : picture.data.codes[0], i,
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
    // A white page and a red one have the same hashes, which hold no information. Such pictures are told apart by their
    // appearances.
    const auto rest = [](const CatalogPicture& c) {
      return c.quality <= kQualityGate ? std::optional(c.appearance) : std::nullopt;
    };
    return rest(p) <=> rest(q);
  };
  const auto order = [&](const Row& a, const Row& b) -> std::strong_ordering {
    const auto by_key = key_order(a, b);
    if (std::is_neq(by_key)) return by_key;
    const auto album = library.pictures[a.picture].album <=> library.pictures[b.picture].album;
    if (std::is_neq(album)) return album;
    const auto shot = shot_of(a.picture) <=> shot_of(b.picture);
    if (std::is_neq(shot) || not_duplicates.empty()) return shot;
    const auto own = [&](std::uint32_t picture) { return not_duplicates.count(picture) > 0 ? picture + 1 : 0; };
    return own(a.picture) <=> own(b.picture);
  };
  oneapi::tbb::parallel_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    const auto different = order(a, b);
    return std::is_neq(different) ? std::is_lt(different) : a.picture < b.picture;
  });
  std::vector<Unit> units;
  units.reserve(rows.size());
  Filling filling(not_duplicates, units);
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    const std::uint32_t album = library.pictures[rows[begin].picture].album;
    if (begin == 0 || std::is_neq(key_order(rows[begin - 1], rows[begin]))) {
      filling.next_key();
    } else if (album != library.pictures[rows[begin - 1].picture].album) {
      filling.next_album();
    }
    const auto [burst, shot] = shot_of(rows[begin].picture);
    Part part{{}, burst, shot};
    std::uint32_t files = 0;
    for (; end < rows.size() && std::is_eq(order(rows[begin], rows[end])); ++end) {
      part.pictures.push_back(rows[end].picture);
      files += rows[end].files;
    }
    Unit& unit = filling.add(std::move(part));
    unit.files += files;
    unit.album = album;
    if (by_appearance) unit.appearance = rows[begin].first;
  }
  for (Unit& unit : units) {
    if (unit.parts.size() > 1) std::sort(unit.pictures.begin(), unit.pictures.end());
    if (!by_appearance) unit.appearance = library.pictures[unit.pictures[0]].data.appearance;
  }
  return units;
}

bool is_shot_of_burst(const Unit& unit) {
  return std::any_of(unit.parts.begin(), unit.parts.end(), [](const Part& part) { return part.burst != kNone; });
}

bool may_join(const Unit& a, const Unit& b, const NotDuplicates& not_duplicates) {
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
  return not_duplicates.empty() || std::none_of(a.parts.begin(), a.parts.end(), [&](const Part& part) {
           return told_apart(not_duplicates, part.pictures[0], b.pictures);
         });
}

std::optional<PartPair> first_that_may_join(const Unit& a, const Unit& b, const NotDuplicates& not_duplicates) {
  if (a.album != b.album) return std::nullopt;
  if (a.parts.empty() || b.parts.empty()) return PartPair{&a.pictures, &b.pictures};
  for (const Part& x : a.parts) {
    for (const Part& y : b.parts) {
      if (may_join(x, y, not_duplicates)) return PartPair{&x.pictures, &y.pictures};
    }
  }
  return std::nullopt;
}

}  // namespace millrace::dedupe
