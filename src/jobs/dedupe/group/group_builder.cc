#include "src/jobs/dedupe/group/group_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "src/base/text.h"
#include "src/jobs/dedupe/match/candidates.h"
#include "src/jobs/dedupe/suggest/bit_rot.h"
#include "src/jobs/dedupe/suggest/comparison.h"

namespace millrace::dedupe {
namespace {

Keeper keeper_of(const DuplicateSet& set, const PairComparator& comparator) {
  Keeper out;
  switch (set.keep_reason) {
    case KeepReason::by_rule:
      return out;
    case KeepReason::whole:
      out.why = "shows all that the others show";
      break;
    case KeepReason::detail:
      out.why = "has all the detail; the larger one is an enlargement";
      break;
    case KeepReason::unframed:
      out.why = "has no frame around it";
      break;
    case KeepReason::source:
      out.why = "the larger file was made from it";
      break;
  }
  out.picture = set.pictures[0];
  out.why_not = [keeper = out.picture, keep_reason = set.keep_reason, &comparator](std::uint32_t picture) {
    const Comparison* const comparison = comparator.find(keeper, picture);
    const bool made_of_it =
        comparison != nullptr && (comparison->same_pixels || comparison->saved_again(picture < keeper));
    if (keep_reason == KeepReason::source && made_of_it) return "made from";
    if (comparison != nullptr && comparison->framed(picture < keeper)) return "a framed copy of";
    if (comparison != nullptr && comparison->enlarged) return "an enlargement of";
    if (comparison != nullptr && comparison->contained != detailed_check::Containment::both) return "a crop of";
    return "a version of";
  };
  return out;
}

}  // namespace

void GroupBuilder::add_sets(std::span<const DuplicateSet> sets, GroupEvidence evidence, RunContext& context) {
  std::vector<Group> groups(sets.size());
  context.executor.parallel_for(sets.size(), 64, [&](std::size_t from, std::size_t to) {
    for (std::size_t s = from; s < to; ++s) groups[s] = make_group(sets[s], evidence);
  });
  context.throw_if_cancelled();  // the loop skips the rest when cancelled
  for (std::size_t s = 0; s < sets.size(); ++s) {
    if (groups[s].members.empty()) continue;
    add_pairs(groups[s], appearance_groups_of(sets[s].pictures));
    result_.groups.push_back(std::move(groups[s]));
  }
}

Group GroupBuilder::make_group(const DuplicateSet& set, GroupEvidence evidence) const {
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
  group.members = choose_kept_members(library_, origins_, files, criteria_, keeper_of(set, comparator_));
  for (const DuplicateSet::Kept& kept : set.also_kept) keep_picture(library_, kept.picture, kept.why, group.members);
  if (evidence == GroupEvidence::equal_bytes) keep_one_file_per_picture(library_, group.members);
  std::set<std::uint32_t> rotten;
  for (GroupMember& m : group.members) {
    const std::string rot = describe_bit_rot(group.members[0], m);
    if (rot.empty()) continue;
    // No check can tell which of the two is undamaged.
    rotten.insert(m.file);
    if (!m.keep) m.why = rot;
    m.keep = true;
  }
  if (across_) {
    if (is_in_one_album(group.members)) return {};
    keep_same_album_members(group.members);
  }
  warn_of_losses(library_, origins_, keeper_of(set, comparator_), group.members);
  for (GroupMember& m : group.members) {
    m.user_metadata_score = score_user_metadata(origins_.find_provenance(m.file));
    m.holds = list_extra_data_kinds(origins_.find_provenance(m.file).extra_data);
    m.is_interchangeable = rotten.count(m.file) == 0 && is_interchangeable_with_keeper(group.members, m);
  }
  for (const GroupMember& m : group.members) {
    if (!m.keep) group.reclaimable += library_.files[m.file].entry.size;
  }
  return group;
}

bool GroupBuilder::is_in_one_album(const std::vector<GroupMember>& members) const {
  return std::all_of(members.begin(), members.end(), [&](const GroupMember& m) {
    return library_.files[m.file].album == library_.files[members[0].file].album;
  });
}

bool GroupBuilder::is_interchangeable_with_keeper(const std::vector<GroupMember>& members,
                                                  const GroupMember& member) const {
  const std::uint32_t first = library_.files[members[0].file].picture, other = library_.files[member.file].picture;
  if (first == other) return member.file != members[0].file;
  if (!name_uncopied_holding(library_, origins_, members[0].file, member.file).empty()) return false;
  const Comparison* const comparison = comparator_.find(first, other);
  return comparison != nullptr && derive_relation(*comparison, other < first) == RelationToKeeper::same;
}

void GroupBuilder::keep_same_album_members(std::vector<GroupMember>& members) const {
  const LibraryFile& first = library_.files[members[0].file];
  for (std::size_t i = 1; i < members.size(); ++i) {
    if (members[i].keep || library_.files[members[i].file].album != first.album) continue;
    members[i].keep = true;
    members[i].why =
        fmt::format("on the same side of --pairs across as {}", escape_unprintable(file_name(first.entry.path)));
  }
}

std::vector<std::uint32_t> GroupBuilder::appearance_groups_of(const std::vector<std::uint32_t>& pictures) const {
  std::set<std::uint32_t> appearance_groups;
  for (const std::uint32_t p : pictures) appearance_groups.insert(appearance_group_of_[p]);
  return {appearance_groups.begin(), appearance_groups.end()};
}

// Shows pictures that differ from the keeper in the detailed check, one group per kind and keeper.
void GroupBuilder::add_related_pictures(const std::vector<RelatedPicture>& all) {
  std::map<std::pair<std::uint32_t, GroupKind>, std::vector<std::uint32_t>> informing;
  for (const RelatedPicture& b : all) {
    if (b.kind == GroupKind::related) {
      add_informational_group({b.keeper, b.picture}, b.kind);
    } else {
      auto& pictures = informing[{b.keeper, b.kind}];
      if (pictures.empty()) pictures.push_back(b.keeper);
      pictures.push_back(b.picture);
    }
  }
  for (const auto& [key, pictures] : informing) {
    const std::uint32_t first = key.first;
    add_informational_group(pictures, key.second);
    if (result_.groups.empty() || result_.groups.back().kind != key.second) continue;
    Group& group = result_.groups.back();
    const auto keeper = std::find_if(group.members.begin(), group.members.end(),
                                     [&](const GroupMember& m) { return library_.files[m.file].picture == first; });
    // Sets the region of the alteration, relative to the keeper that the picture was checked against.
    for (std::uint32_t m = 0; m < group.members.size(); ++m) {
      const std::uint32_t picture = library_.files[group.members[m].file].picture;
      const Comparison* const comparison = picture == first ? nullptr : comparator_.find(first, picture);
      if (comparison == nullptr) continue;
      if (keeper != group.members.end()) group.members[m].warning = describe_bit_rot(*keeper, group.members[m]);
      if (comparison->kind != detailed_check::DifferenceKind::altered) continue;
      group.members[m].place = comparison->place(picture < first);
    }
  }
}

// Adds the score of each pair of appearance groups, between the first members of each.
void GroupBuilder::add_pairs(Group& group, const std::vector<std::uint32_t>& appearance_groups) {
  constexpr std::size_t kMaxPairedGroups = 64;  // a larger group gets only the pairs with its first appearance group
  if (appearance_groups.size() < 2) return;
  const auto codes = [&](std::uint32_t appearance_group) {
    return library_.pictures[appearance_groups_[appearance_group].pictures[0]].data.codes;
  };
  std::vector<std::uint32_t> at(appearance_groups.size(), kNone);
  for (std::uint32_t m = 0; m < group.members.size(); ++m) {
    const std::uint32_t appearance_group = appearance_group_of_[library_.files[group.members[m].file].picture];
    const auto place = std::lower_bound(appearance_groups.begin(), appearance_groups.end(), appearance_group) -
                       appearance_groups.begin();
    std::uint32_t& first = at[static_cast<std::size_t>(place)];
    first = std::min(first, m);
  }
  std::vector<ItemPair> shown;
  for (std::size_t i = 0; i < appearance_groups.size(); ++i) {
    if (i > 0 && appearance_groups.size() > kMaxPairedGroups) break;
    for (std::size_t j = i + 1; j < appearance_groups.size(); ++j) {
      if (at[i] == kNone || at[j] == kNone) continue;
      const auto& [a, b] = shown.emplace_back(std::minmax(appearance_groups[i], appearance_groups[j]));
      group.pairs.push_back({std::min(at[i], at[j]), std::max(at[i], at[j]), distances(codes(a), codes(b)), 0});
    }
  }
  const bool in_one = group.kind == GroupKind::similar || group.kind == GroupKind::same_pixels;
  if (in_one || (group.kind > GroupKind::similar && group.kind != GroupKind::recoloured)) {
    const std::vector<float> scores = in_one ? scores_.group_scores(shown) : scores_.pair_scores(shown);
    for (std::size_t i = 0; i < shown.size(); ++i) group.pairs[i].score = std::max(0.0F, scores[i]);
  }
  std::sort(group.pairs.begin(), group.pairs.end(),
            [](const GroupPair& x, const GroupPair& y) { return std::pair(x.a, x.b) < std::pair(y.a, y.b); });
}

void GroupBuilder::add_informational_group(const std::vector<std::uint32_t>& pictures, GroupKind kind) {
  Group group;
  group.kind = kind;
  for (const std::uint32_t p : pictures) {
    for (const std::uint32_t f : library_.pictures[p].files) group.members.push_back({f, true, ""});
  }
  std::sort(group.members.begin(), group.members.end(),
            [](const GroupMember& a, const GroupMember& b) { return a.file < b.file; });
  if (group.members.size() < 2 || (across_ && is_in_one_album(group.members))) return;
  add_pairs(group, appearance_groups_of(pictures));
  (kind == GroupKind::related ? result_.related : result_.groups).push_back(std::move(group));
}

void GroupBuilder::add_burst(const Burst& burst) {
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

std::string GroupBuilder::id_of(const Group& group) const {
  std::vector<std::string> names;
  for (const GroupMember& m : group.members) {
    const LibraryFile& file = library_.files[m.file];
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

std::string GroupBuilder::describe_bit_rot(const GroupMember& first, const GroupMember& other) const {
  const LibraryFile &a = library_.files[first.file], &b = library_.files[other.file];
  if (a.picture == b.picture || a.entry.size != b.entry.size) return "";
  // Programs write a date or a rating in place, without changing the pixels.
  const Comparison* const comparison = comparator_.find(a.picture, b.picture);
  if (comparison == nullptr || comparison->same_pixels) return "";
  const auto differ = count_differing_bytes(a.entry.path, b.entry.path);
  if (!differ) return "";
  return fmt::format("differs from {} in {} of {} bytes: one of the two is probably damaged",
                     escape_unprintable(file_name(a.entry.path)), group_digits(*differ), group_digits(a.entry.size));
}

void GroupBuilder::finish(RunContext& context) {
  // Compares the members' paths. Ids depend on the location of the files, and the order must not.
  const auto by_paths = [&](const Group& a, const Group& b) {
    const auto path_of = [&](const GroupMember& m) -> const std::string& { return library_.files[m.file].entry.path; };
    return std::lexicographical_compare(
        a.members.begin(), a.members.end(), b.members.begin(), b.members.end(),
        [&](const GroupMember& x, const GroupMember& y) { return path_of(x) < path_of(y); });
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
