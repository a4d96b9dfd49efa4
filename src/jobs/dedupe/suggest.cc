#include "src/jobs/dedupe/suggest.h"

#include <algorithm>
#include <utility>

#include "src/jobs/dedupe/companions.h"

namespace millrace::dedupe {
namespace {

// A part may go where the whole has about as many pixels for it.
constexpr float kSameDetail = 0.97F;
constexpr int kMostPromotions = 2;

// What a close look says of a picture beside the one that would stay.
enum class Standing : std::uint8_t { same, shows_more, has_more_detail, contains, one_shot, other, unseen };

Standing standing_of(const CloseLook* look, std::uint32_t leader, std::uint32_t picture) {
  if (look == nullptr || !look->seen) return Standing::unseen;
  if (look->same_pixels) return Standing::same;
  if (look->kind != closelook::Kind::same) return Standing::other;
  if (look->contained == closelook::Contained::both) return Standing::same;
  if (look->contained == closelook::Contained::neither) return Standing::other;
  const bool first_is_part = look->contained == closelook::Contained::first;
  // Pixels of the picture to one of the leader's.
  const float scale = leader < picture ? look->scale : (look->scale > 0 ? 1 / look->scale : 0);
  if (first_is_part == (picture < leader)) {  // the picture is a part of the leader
    return scale <= 1 / kSameDetail ? Standing::same : Standing::has_more_detail;
  }
  return scale >= kSameDetail ? Standing::contains : Standing::shows_more;
}

GroupKind kind_of(const CloseLook* look) {
  if (look == nullptr || !look->seen) return GroupKind::related;
  switch (look->kind) {
    case closelook::Kind::altered:
      return GroupKind::altered;
    case closelook::Kind::framed:
      return GroupKind::framed;
    case closelook::Kind::toned:
      return GroupKind::recoloured;
    default:
      return GroupKind::related;
  }
}

// A candidate on its way: who leads now, and who is left.
struct Work {
  std::vector<std::uint32_t> left;  // in the order of the rule
  std::uint32_t leader = 0;
  int leaders = 0, promotions = 0;
  bool part_of_first = false;
};

class Suggesting {
 public:
  Suggesting(const Library& library, const Origins& origins, Looks& looks)
      : library_(library), origins_(origins), looks_(looks) {}

  Suggested run(const std::vector<Candidate>& candidates) {
    std::vector<Work> open;
    for (const Candidate& candidate : candidates) {
      Work work;
      work.left = candidate;
      start(work, open);
    }
    while (!open.empty()) {
      std::vector<PicturePair> pairs;
      for (const Work& work : open) {
        for (const std::uint32_t p : work.left) {
          if (p != work.leader) pairs.emplace_back(work.leader, p);
        }
      }
      looks_.look(pairs);
      std::vector<Work> next;
      for (Work& work : open) settle(work, next);
      open = std::move(next);
    }
    return std::move(out_);
  }

 private:
  bool is_reference(std::uint32_t picture) const {
    const auto& files = library_.pictures[picture].files;
    return std::any_of(files.begin(), files.end(), [&](std::uint32_t f) { return library_.files[f].reference; });
  }

  const Provenance& origin_of(std::uint32_t picture) const { return origins_.of(library_.pictures[picture].files[0]); }

  // What a camera or a phone wrote twice, as HEIC and as JPEG: one stem in one folder.
  bool is_one_shot(std::uint32_t a, std::uint32_t b) const {
    const auto is_heif = [&](std::uint32_t p) {
      return library_.pictures[p].data.format == static_cast<int>(ImageFormat::heif);
    };
    const auto is_jpeg = [&](std::uint32_t p) {
      return library_.pictures[p].data.format == static_cast<int>(ImageFormat::jpeg);
    };
    if (!(is_heif(a) && is_jpeg(b)) && !(is_heif(b) && is_jpeg(a))) return false;
    if (library_.pictures[a].data.taken != library_.pictures[b].data.taken) return false;
    for (const std::uint32_t f : library_.pictures[a].files) {
      for (const std::uint32_t g : library_.pictures[b].files) {
        if (stem_key(library_.files[f].entry.path) == stem_key(library_.files[g].entry.path)) return true;
      }
    }
    return false;
  }

  Standing standing(std::uint32_t leader, std::uint32_t picture) const {
    const Standing by_look = standing_of(looks_.find(leader, picture), leader, picture);
    const CloseLook* const look = looks_.find(leader, picture);
    if (by_look == Standing::unseen) return by_look;
    // A program may have written another date; the pixels tell.
    if (!look->same_pixels && same_shutter(origin_of(leader), origin_of(picture)) == SameShutter::different)
      return Standing::other;
    if (by_look != Standing::other && is_one_shot(leader, picture)) return Standing::one_shot;
    return by_look;
  }

  GroupKind kind(std::uint32_t leader, std::uint32_t picture) const {
    const CloseLook* const look = looks_.find(leader, picture);
    const bool other_scene = look == nullptr || !look->seen || look->kind == closelook::Kind::different;
    if (!other_scene && same_shutter(origin_of(leader), origin_of(picture)) == SameShutter::different)
      return GroupKind::series;
    return kind_of(look);
  }

  // The best of what is left leads.
  void start(Work work, std::vector<Work>& open) {
    if (work.left.size() == 1 || work.leaders == kMostLeaders) {
      // Nobody is left to be compared with, or too many were already.
      if (work.left.size() > 1) out_.not_looked += work.left.size();
      for (const std::uint32_t p : work.left) out_.sets.push_back({{p}, {}, false, false});
      return;
    }
    work.leader = work.left[0];
    work.promotions = 0;
    work.part_of_first = false;
    ++work.leaders;
    open.push_back(std::move(work));
  }

  void settle(Work& work, std::vector<Work>& next) {
    const auto look = [&](std::uint32_t p) { return looks_.find(work.leader, p); };
    // A whole goes before its part: it is the one to stay, and everybody is looked at against it.
    if (work.promotions < kMostPromotions && !is_reference(work.leader)) {
      for (const std::uint32_t p : work.left) {
        if (p == work.leader || standing(work.leader, p) != Standing::contains) continue;
        work.leader = p;
        ++work.promotions;
        work.part_of_first = true;
        next.push_back(std::move(work));
        return;
      }
    }
    SameSet set;
    set.pictures.push_back(work.leader);
    set.part_of_first = work.part_of_first;
    set.same_pixels = true;
    Work rest;
    rest.leaders = work.leaders;
    for (const std::uint32_t p : work.left) {
      if (p == work.leader) continue;
      switch (standing(work.leader, p)) {
        case Standing::same:
          set.pictures.push_back(p);
          set.same_pixels = set.same_pixels && look(p)->same_pixels;
          continue;
        case Standing::contains:
        case Standing::shows_more:
          set.pictures.push_back(p);
          set.also_kept.push_back({p, "shows more than"});
          set.same_pixels = false;
          continue;
        case Standing::has_more_detail:
          set.pictures.push_back(p);
          set.also_kept.push_back({p, "has more detail than"});
          set.same_pixels = false;
          continue;
        case Standing::one_shot:
          set.pictures.push_back(p);
          set.also_kept.push_back({p, "one shot with"});
          set.same_pixels = false;
          continue;
        case Standing::other:
        case Standing::unseen:
          break;
      }
      if (standing(work.leader, p) == Standing::unseen) ++out_.not_looked;
      if (work.leaders == 1) out_.beside.push_back({work.leader, p, kind(work.leader, p)});
      rest.left.push_back(p);
    }
    out_.sets.push_back(std::move(set));
    if (!rest.left.empty()) start(std::move(rest), next);
  }

  const Library& library_;
  const Origins& origins_;
  Looks& looks_;
  Suggested out_;
};

}  // namespace

Suggested suggest(const std::vector<Candidate>& candidates, const Library& library, const Origins& origins,
                  Looks& looks) {
  return Suggesting(library, origins, looks).run(candidates);
}

}  // namespace millrace::dedupe
