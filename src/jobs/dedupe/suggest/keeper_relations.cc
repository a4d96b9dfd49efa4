#include "src/jobs/dedupe/suggest/keeper_relations.h"

#include <algorithm>

#include "src/jobs/dedupe/suggest/same_shot.h"

namespace millrace::dedupe {
bool KeeperRelations::is_reference(std::uint32_t picture) const {
  const auto& files = library_.pictures[picture].files;
  return std::any_of(files.begin(), files.end(), [&](std::uint32_t f) { return library_.files[f].reference; });
}

bool KeeperRelations::are_same_shot(std::uint32_t a, std::uint32_t b) const {
  for (const std::uint32_t f : library_.pictures[a].files) {
    for (const std::uint32_t g : library_.pictures[b].files) {
      if (is_same_shot({library_.files[f].entry.path, library_.pictures[a].data, origins_.find_provenance(f)},
                       {library_.files[g].entry.path, library_.pictures[b].data, origins_.find_provenance(g)}))
        return true;
    }
  }
  return false;
}

RelationToKeeper KeeperRelations::find_relation(std::uint32_t keeper, std::uint32_t picture) const {
  const Comparison* const comparison = comparator_.find(keeper, picture);
  if (comparison == nullptr) return RelationToKeeper::unchecked;
  const RelationToKeeper by_comparison = derive_relation(*comparison, keeper < picture);
  if (by_comparison == RelationToKeeper::unchecked) return by_comparison;
  // A program may have written another date; equal pixels count more.
  if (!comparison->same_pixels && compare_exposures(origin_of(keeper), origin_of(picture)) == ExposureMatch::different)
    return RelationToKeeper::other;
  return by_comparison;
}

bool KeeperRelations::is_same_picture(std::uint32_t keeper, std::uint32_t picture) const {
  const RelationToKeeper found = find_relation(keeper, picture);
  return found != RelationToKeeper::other && found != RelationToKeeper::unchecked;
}

bool KeeperRelations::is_kept_as_same_shot(std::uint32_t keeper, std::uint32_t picture) const {
  return is_same_picture(keeper, picture) && are_same_shot(keeper, picture);
}

bool KeeperRelations::are_interchangeable(std::uint32_t keeper, std::uint32_t picture) const {
  return find_relation(keeper, picture) == RelationToKeeper::same && !are_same_shot(keeper, picture) &&
         derive_relation(*comparator_.find(keeper, picture), picture < keeper) == RelationToKeeper::same;
}

KeepReason KeeperRelations::find_keep_reason(std::uint32_t keeper, std::uint32_t picture) const {
  if (find_relation(keeper, picture) == RelationToKeeper::contains && !are_same_shot(keeper, picture))
    return KeepReason::whole;
  // A keeper that is replaced for its frame or its pixels must have no more detail.
  if (!are_interchangeable(keeper, picture)) return KeepReason::by_rule;
  const Comparison& comparison = *comparator_.find(keeper, picture);
  if (is_source(picture, keeper, comparison))
    return preferred_by_(keeper, picture) == "bytes" ? KeepReason::source : KeepReason::by_rule;
  const bool framed = comparison.framed(keeper < picture);
  if (!(comparison.enlarged || framed) || preferred_by_(keeper, picture) != "pixels") return KeepReason::by_rule;
  return framed ? KeepReason::unframed : KeepReason::detail;
}

bool KeeperRelations::is_source(std::uint32_t picture, std::uint32_t copy, const Comparison& comparison) const {
  if (comparison.saved_again(copy < picture)) return true;
  if (!comparison.same_pixels) return false;
  const auto format = [&](std::uint32_t p) { return static_cast<ImageFormat>(library_.pictures[p].data.format); };
  const ImageFormat made = format(copy);
  return format(picture) == ImageFormat::jpeg && (made == ImageFormat::png || made == ImageFormat::bmp ||
                                                  made == ImageFormat::tiff || made == ImageFormat::pnm);
}

std::optional<BetterKeeper> KeeperRelations::find_better_keeper(std::uint32_t keeper, KeepReason keep_reason,
                                                                std::span<const std::uint32_t> left) const {
  if (is_reference(keeper)) return std::nullopt;
  bool preferred = true;  // true while `p` is preferred to the keeper by the rule
  for (const std::uint32_t p : left) {
    if (p == keeper) {
      preferred = false;
      continue;
    }
    KeepReason why = find_keep_reason(keeper, p);
    if (why == KeepReason::by_rule && preferred && are_interchangeable(keeper, p)) {
      const Comparison& comparison = *comparator_.find(keeper, p);
      if (!comparison.enlarged && !comparison.framed(p < keeper) && !is_source(keeper, p, comparison))
        why = keep_reason;
    }
    if (why != KeepReason::by_rule) return BetterKeeper{p, why};
  }
  return std::nullopt;
}

GroupKind KeeperRelations::derive_group_kind(std::uint32_t keeper, std::uint32_t picture) const {
  const Comparison* const comparison = comparator_.find(keeper, picture);
  if (comparison == nullptr || !comparison->seen || comparison->kind == detailed_check::DifferenceKind::different)
    return GroupKind::related;
  if (compare_exposures(origin_of(keeper), origin_of(picture)) == ExposureMatch::different) return GroupKind::series;
  switch (comparison->kind) {
    case detailed_check::DifferenceKind::altered:
      return GroupKind::altered;
    case detailed_check::DifferenceKind::framed:
      return GroupKind::framed;
    case detailed_check::DifferenceKind::toned:
      return GroupKind::recoloured;
    default:
      return GroupKind::related;
  }
}

}  // namespace millrace::dedupe
