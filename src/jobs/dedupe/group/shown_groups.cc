#include "src/jobs/dedupe/group/shown_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "src/base/text.h"
#include "src/jobs/dedupe/match/candidates.h"
#include "src/jobs/dedupe/suggest/close_look.h"
#include "src/jobs/dedupe/suggest/rot.h"

namespace millrace::dedupe {
namespace {

Leader leader_of(const SameSet& set, const Looks& looks) {
  Leader out;
  switch (set.lead) {
    case Lead::by_rule:
      return out;
    case Lead::whole:
      out.why = "shows all that the others show";
      break;
    case Lead::detail:
      out.why = "has all the detail; the larger one is enlarged";
      break;
    case Lead::unframed:
      out.why = "has no frame around it";
      break;
    case Lead::source:
      out.why = "the larger file was made of it";
      break;
  }
  out.picture = set.pictures[0];
  out.why_not = [leader = out.picture, lead = set.lead, &looks](std::uint32_t picture) {
    const CloseLook* const look = looks.find(leader, picture);
    const bool made_of_it = look != nullptr && (look->same_pixels || look->saved_again(picture < leader));
    if (lead == Lead::source && made_of_it) return "made of";
    if (look != nullptr && look->framed(picture < leader)) return "a framed copy of";
    if (look != nullptr && look->enlarged) return "an enlargement of";
    if (look != nullptr && look->contained != closelook::Contained::both) return "a part of";
    return "a version of";
  };
  return out;
}

}  // namespace

void ShownGroups::add_sets(std::span<const SameSet> sets, Told told, RunContext& context) {
  std::vector<Group> groups(sets.size());
  context.executor.parallel_for(sets.size(), 64, [&](std::size_t from, std::size_t to) {
    for (std::size_t s = from; s < to; ++s) groups[s] = group_of(sets[s], told);
  });
  context.throw_if_cancelled();  // the loop skips the rest when cancelled
  for (std::size_t s = 0; s < sets.size(); ++s) {
    if (groups[s].members.empty()) continue;
    add_pairs(groups[s], units_of(sets[s].pictures));
    result_.groups.push_back(std::move(groups[s]));
  }
}

Group ShownGroups::group_of(const SameSet& set, Told told) const {
  Group group;
  std::vector<std::uint32_t> files;
  for (const std::uint32_t p : set.pictures)
    files.insert(files.end(), library_.pictures[p].files.begin(), library_.pictures[p].files.end());
  if (files.size() < 2) return group;
  if (std::all_of(files.begin(), files.end(), [&](std::uint32_t f) { return library_.files[f].reference; }))
    return group;
  group.kind = set.pictures.size() == 1 ? GroupKind::identical
               : set.same_pixels        ? GroupKind::same_pixels
                                        : GroupKind::similar;
  group.members = rank_members(library_, origins_, files, criteria_, leader_of(set, looks_));
  for (const SameSet::Kept& kept : set.also_kept) keep_picture(library_, kept.picture, kept.why, group.members);
  if (told == Told::by_bytes) keep_one_of_each(library_, group.members);
  std::set<std::uint32_t> rotten;
  for (Member& m : group.members) {
    const std::string rot = words_of_rot(group.members[0], m);
    if (rot.empty()) continue;
    // No check can tell which of the two is undamaged.
    rotten.insert(m.file);
    if (!m.keep) m.why = rot;
    m.keep = true;
  }
  if (across_) {
    if (is_in_one_album(group.members)) return {};
    keep_beside_the_first(group.members);
  }
  warn_of_losses(library_, origins_, leader_of(set, looks_), group.members);
  for (Member& m : group.members) {
    m.given = given(origins_.of(m.file));
    m.holds = kinds_of(origins_.of(m.file).holdings);
    m.as_good = rotten.count(m.file) == 0 && may_stay_for_the_first(group.members, m);
  }
  for (const Member& m : group.members) {
    if (!m.keep) group.reclaimable += library_.files[m.file].entry.size;
  }
  return group;
}

bool ShownGroups::is_in_one_album(const std::vector<Member>& members) const {
  return std::all_of(members.begin(), members.end(), [&](const Member& m) {
    return library_.files[m.file].album == library_.files[members[0].file].album;
  });
}

bool ShownGroups::may_stay_for_the_first(const std::vector<Member>& members, const Member& member) const {
  const std::uint32_t first = library_.files[members[0].file].picture, other = library_.files[member.file].picture;
  if (first == other) return member.file != members[0].file;
  if (!held_alone(library_, origins_, members[0].file, member.file).empty()) return false;
  const CloseLook* const look = looks_.find(first, other);
  return look != nullptr && standing_of(*look, other < first) == Standing::same;
}

void ShownGroups::keep_beside_the_first(std::vector<Member>& members) const {
  const File& first = library_.files[members[0].file];
  for (std::size_t i = 1; i < members.size(); ++i) {
    if (members[i].keep || library_.files[members[i].file].album != first.album) continue;
    members[i].keep = true;
    members[i].why = fmt::format("in one folder with {}", printable(file_name(first.entry.path)));
  }
}

std::vector<std::uint32_t> ShownGroups::units_of(const std::vector<std::uint32_t>& pictures) const {
  std::set<std::uint32_t> units;
  for (const std::uint32_t p : pictures) units.insert(unit_of_[p]);
  return {units.begin(), units.end()};
}

// Shows pictures that differ from the leader in the detailed check, one group per kind and leader.
void ShownGroups::add_beside(const std::vector<Beside>& all) {
  std::map<std::pair<std::uint32_t, GroupKind>, std::vector<std::uint32_t>> informing;
  for (const Beside& b : all) {
    if (b.kind == GroupKind::related) {
      add_informing({b.leader, b.picture}, b.kind);
    } else {
      auto& pictures = informing[{b.leader, b.kind}];
      if (pictures.empty()) pictures.push_back(b.leader);
      pictures.push_back(b.picture);
    }
  }
  for (const auto& [key, pictures] : informing) {
    const std::uint32_t first = key.first;
    add_informing(pictures, key.second);
    if (result_.groups.empty() || result_.groups.back().kind != key.second) continue;
    Group& group = result_.groups.back();
    const auto leader = std::find_if(group.members.begin(), group.members.end(),
                                     [&](const Member& m) { return library_.files[m.file].picture == first; });
    // Sets the place of the alteration, relative to the leader that the picture was checked against.
    for (std::uint32_t m = 0; m < group.members.size(); ++m) {
      const std::uint32_t picture = library_.files[group.members[m].file].picture;
      const CloseLook* const look = picture == first ? nullptr : looks_.find(first, picture);
      if (look == nullptr) continue;
      if (leader != group.members.end()) group.members[m].warning = words_of_rot(*leader, group.members[m]);
      if (look->kind != closelook::Kind::altered) continue;
      group.members[m].place = look->place(picture < first);
    }
  }
}

// Adds the score of each pair of units, between the first members of each unit.
void ShownGroups::add_pairs(Group& group, const std::vector<std::uint32_t>& units) {
  constexpr std::size_t kMostUnits = 64;  // a larger group gets only the pairs with its first unit
  if (units.size() < 2) return;
  const auto codes = [&](std::uint32_t unit) { return library_.pictures[units_[unit].pictures[0]].data.codes; };
  std::vector<std::uint32_t> at(units.size(), kNone);
  for (std::uint32_t m = 0; m < group.members.size(); ++m) {
    const std::uint32_t unit = unit_of_[library_.files[group.members[m].file].picture];
    const auto place = std::lower_bound(units.begin(), units.end(), unit) - units.begin();
    std::uint32_t& first = at[static_cast<std::size_t>(place)];
    first = std::min(first, m);
  }
  std::vector<ItemPair> shown;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (i > 0 && units.size() > kMostUnits) break;
    for (std::size_t j = i + 1; j < units.size(); ++j) {
      if (at[i] == kNone || at[j] == kNone) continue;
      const auto& [a, b] = shown.emplace_back(std::minmax(units[i], units[j]));
      group.pairs.push_back({std::min(at[i], at[j]), std::max(at[i], at[j]), distances(codes(a), codes(b)), 0});
    }
  }
  const bool in_one = group.kind == GroupKind::similar || group.kind == GroupKind::same_pixels;
  if (in_one || (group.kind > GroupKind::similar && group.kind != GroupKind::recoloured)) {
    const std::vector<float> scores = in_one ? scores_.in_one_group(shown) : scores_.alone(shown);
    for (std::size_t i = 0; i < shown.size(); ++i) group.pairs[i].score = std::max(0.0F, scores[i]);
  }
  std::sort(group.pairs.begin(), group.pairs.end(),
            [](const GroupPair& x, const GroupPair& y) { return std::pair(x.a, x.b) < std::pair(y.a, y.b); });
}

void ShownGroups::add_informing(const std::vector<std::uint32_t>& pictures, GroupKind kind) {
  Group group;
  group.kind = kind;
  for (const std::uint32_t p : pictures) {
    for (const std::uint32_t f : library_.pictures[p].files) group.members.push_back({f, true, ""});
  }
  std::sort(group.members.begin(), group.members.end(),
            [](const Member& a, const Member& b) { return a.file < b.file; });
  if (group.members.size() < 2 || (across_ && is_in_one_album(group.members))) return;
  add_pairs(group, units_of(pictures));
  (kind == GroupKind::related ? result_.related : result_.groups).push_back(std::move(group));
}

void ShownGroups::add_burst(const Burst& burst) {
  Group group;
  group.kind = GroupKind::burst;
  for (std::size_t i = 0; i < burst.pictures.size(); ++i) {
    for (const std::uint32_t f : library_.pictures[burst.pictures[i]].files) {
      group.members.push_back({f, true, fmt::format("shot {}", burst.shots[i] + 1)});
    }
  }
  if (across_ && is_in_one_album(group.members)) return;
  result_.groups.push_back(std::move(group));
}

std::string ShownGroups::id_of(const Group& group) const {
  std::vector<std::string> names;
  for (const Member& m : group.members) {
    const File& file = library_.files[m.file];
    names.push_back(hex_of_bytes(library_.pictures[file.picture].data.content) + file.entry.path);
  }
  std::sort(names.begin(), names.end());
  std::string kind = name_of(group.kind);
  std::replace(kind.begin(), kind.end(), ' ', '-');
  std::string all = kind;
  for (const std::string& name : names) all += '\0' + name;
  const std::uint64_t hash = short_hash({reinterpret_cast<const std::uint8_t*>(all.data()), all.size()});
  return fmt::format("{}-{:012x}", kind, hash >> 16);
}

std::string ShownGroups::words_of_rot(const Member& first, const Member& other) const {
  const File &a = library_.files[first.file], &b = library_.files[other.file];
  if (a.picture == b.picture || a.entry.size != b.entry.size) return "";
  // Programs write a date or a rating in place, without changing the pixels.
  const CloseLook* const look = looks_.find(a.picture, b.picture);
  if (look == nullptr || look->same_pixels) return "";
  const auto differ = few_that_differ(a.entry.path, b.entry.path);
  if (!differ) return "";
  return fmt::format("differs from {} in {} of {} bytes: one of the two is probably damaged",
                     printable(file_name(a.entry.path)), grouped(*differ), grouped(a.entry.size));
}

void ShownGroups::finish(RunContext& context) {
  // Compares the members' paths. Ids depend on the location of the files, and the order must not.
  const auto by_paths = [&](const Group& a, const Group& b) {
    const auto path_of = [&](const Member& m) -> const std::string& { return library_.files[m.file].entry.path; };
    return std::lexicographical_compare(a.members.begin(), a.members.end(), b.members.begin(), b.members.end(),
                                        [&](const Member& x, const Member& y) { return path_of(x) < path_of(y); });
  };
  for (auto* list : {&result_.groups, &result_.related}) {
    context.executor.parallel_for(list->size(), 256, [&](std::size_t from, std::size_t to) {
      for (std::size_t g = from; g < to && !context.cancel.cancelled(); ++g) {
        (*list)[g].id = id_of((*list)[g]);
      }
    });
    context.throw_if_cancelled();  // the loop skips the rest when cancelled
    std::vector<std::uint32_t> order(list->size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t x, std::uint32_t y) {
      const Group &a = (*list)[x], &b = (*list)[y];
      const auto kinds = [](const Group& g) { return std::max(g.kind, GroupKind::similar); };
      if (kinds(a) != kinds(b)) return kinds(a) < kinds(b);
      if (a.reclaimable != b.reclaimable) return a.reclaimable > b.reclaimable;
      if (by_paths(a, b) || by_paths(b, a)) return by_paths(a, b);
      return a.id < b.id;  // one set of files in two groups of different kinds
    });
    std::vector<Group> sorted;
    sorted.reserve(order.size());
    for (const std::uint32_t g : order) sorted.push_back(std::move((*list)[g]));
    list->swap(sorted);
  }
  for (const Group& group : result_.groups) result_.reclaimable += group.reclaimable;
}

}  // namespace millrace::dedupe
