#include "src/jobs/dedupe/suggest/comparison.h"

#include <cstring>

namespace millrace::dedupe {
namespace {

// Version of the verdicts. Increase it whenever the same pictures may be judged differently. Changes of the transform
// between them are covered by crops::kVersion.
// docs/design/detailed-check.md gives the reasons for the constants of this file.
constexpr std::uint32_t kJudgement = 19;
constexpr std::uint32_t kComparisonVersion = 100 * kJudgement + crops::kVersion;
static_assert(crops::kVersion < 100);

// Format of a result in the catalog.
struct ComparisonRecord {
  std::uint8_t seen;  // bits: 1 decoded, 2 in sRGB, 4 and 8 first and second saved again, 16 and 32 first and second
                      // sharper, 64 one shows all
  std::uint8_t same_pixels, kind, contained, enlarged, first_framed, second_framed;
  std::uint8_t searched_crops;  // 0: no search for crops; else 1, plus 2 for crops and 4 for rotated or mirrored ones
  float scale;
  std::array<float, 4> first_place, second_place;
};
static_assert(sizeof(ComparisonRecord) == 44 && sizeof(ComparisonRecord) <= CatalogComparison::kMaxBytes);

}  // namespace

std::optional<Comparison> decode_comparison(const CatalogComparison& kept) {
  if (kept.version != kComparisonVersion || kept.verdict.size() != sizeof(ComparisonRecord)) return std::nullopt;
  ComparisonRecord k;
  std::memcpy(&k, kept.verdict.data(), sizeof k);
  if ((k.searched_crops & 1) == 0 ? k.searched_crops != 0 : k.searched_crops > 7) return std::nullopt;
  std::optional<TransformKinds> searched_crops;
  if (k.searched_crops != 0) searched_crops = {(k.searched_crops & 2) != 0, (k.searched_crops & 4) != 0};
  if (k.kind > static_cast<std::uint8_t>(detailed_check::DifferenceKind::different) ||
      k.contained > static_cast<std::uint8_t>(detailed_check::Containment::neither))
    return std::nullopt;
  return Comparison{k.seen != 0,
                    (k.seen & 2) != 0,
                    (k.seen & 64) != 0,
                    k.same_pixels != 0,
                    static_cast<detailed_check::DifferenceKind>(k.kind),
                    static_cast<detailed_check::Containment>(k.contained),
                    k.scale,
                    k.enlarged != 0,
                    (k.seen & 16) != 0,
                    (k.seen & 32) != 0,
                    (k.seen & 4) != 0,
                    (k.seen & 8) != 0,
                    k.first_framed != 0,
                    k.second_framed != 0,
                    k.first_place,
                    k.second_place,
                    searched_crops};
}

CatalogComparison encode_for_catalog(const ContentHash& first, const ContentHash& second,
                                     const Comparison& comparison) {
  const int searched_crops =
      comparison.searched_crops ? 1 + 2 * comparison.searched_crops->crops + 4 * comparison.searched_crops->turned : 0;
  const ComparisonRecord k{
      static_cast<std::uint8_t>(comparison.seen + 2 * comparison.in_srgb + 4 * comparison.first_saved_again +
                                8 * comparison.second_saved_again + 16 * comparison.first_sharper +
                                32 * comparison.second_sharper + 64 * comparison.one_shows_all),
      comparison.same_pixels,
      static_cast<std::uint8_t>(comparison.kind),
      static_cast<std::uint8_t>(comparison.contained),
      comparison.enlarged,
      comparison.first_framed,
      comparison.second_framed,
      static_cast<std::uint8_t>(searched_crops),
      comparison.scale,
      comparison.first_place,
      comparison.second_place};
  CatalogComparison out{first, second, kComparisonVersion, {}};
  out.verdict.resize(sizeof k);
  std::memcpy(out.verdict.data(), &k, sizeof k);
  return out;
}

RelationToKeeper derive_relation(const Comparison& comparison, bool first_is_keeper) {
  // A crop is removable where the whole has about as many pixels for the same content.
  constexpr float kSameDetail = 0.97F;
  if (!comparison.seen) return RelationToKeeper::unchecked;
  if (comparison.same_pixels) return RelationToKeeper::same;
  if (comparison.kind != detailed_check::DifferenceKind::same) return RelationToKeeper::other;
  if (comparison.contained == detailed_check::Containment::neither) return RelationToKeeper::other;
  // Pixels of the removable picture per pixel of the kept one, along a side.
  const float scale = first_is_keeper ? comparison.scale : (comparison.scale > 0 ? 1 / comparison.scale : 0);
  // More pixels count as more detail, unless the check found no finer detail in them.
  constexpr float kLittleMore = 1.05F;
  // A scaled copy with fewer pixels looks sharper, so sharpness counts only at about the same number of pixels or more.
  if (comparison.contained == detailed_check::Containment::both && scale >= 1 / kLittleMore &&
      comparison.sharper(!first_is_keeper))
    return RelationToKeeper::has_more_detail;
  if (comparison.contained == detailed_check::Containment::both)
    return scale <= kLittleMore || comparison.enlarged ? RelationToKeeper::same : RelationToKeeper::has_more_detail;
  if ((comparison.contained == detailed_check::Containment::first) != first_is_keeper) {  // a crop of the kept picture
    return scale <= 1 / kSameDetail ? RelationToKeeper::same : RelationToKeeper::has_more_detail;
  }
  return scale >= kSameDetail ? RelationToKeeper::contains : RelationToKeeper::shows_more;
}

}  // namespace millrace::dedupe
