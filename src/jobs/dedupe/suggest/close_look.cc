#include "src/jobs/dedupe/suggest/close_look.h"

#include <cstring>

namespace millrace::dedupe {
namespace {

// Version of the verdicts. Increase it whenever the same pictures may be judged differently. Changes of the transform
// between them are covered by parts::kVersion.
constexpr std::uint32_t kJudgement = 19;
constexpr std::uint32_t kLookVersion = 100 * kJudgement + parts::kVersion;
static_assert(parts::kVersion < 100);

// Format of a result in the catalog.
struct Kept {
  std::uint8_t seen;  // bits: 1 decoded, 2 in sRGB, 4 and 8 first and second saved again, 16 and 32 first and second
                      // sharper, 64 one shows all
  std::uint8_t same_pixels, kind, contained, enlarged, first_framed, second_framed;
  std::uint8_t looked_for;  // 0: no search for parts; else 1, plus 2 for crops and 4 for rotated or mirrored ones
  float scale;
  std::array<float, 4> first_place, second_place;
};
static_assert(sizeof(Kept) == 44 && sizeof(Kept) <= CatalogCloseLook::kMostBytes);

}  // namespace

std::optional<CloseLook> close_look_from(const CatalogCloseLook& kept) {
  if (kept.version != kLookVersion || kept.verdict.size() != sizeof(Kept)) return std::nullopt;
  Kept k;
  std::memcpy(&k, kept.verdict.data(), sizeof k);
  if ((k.looked_for & 1) == 0 ? k.looked_for != 0 : k.looked_for > 7) return std::nullopt;
  std::optional<WantedParts> looked_for;
  if (k.looked_for != 0) looked_for = {(k.looked_for & 2) != 0, (k.looked_for & 4) != 0};
  if (k.kind > static_cast<std::uint8_t>(closelook::Kind::different) ||
      k.contained > static_cast<std::uint8_t>(closelook::Contained::neither))
    return std::nullopt;
  return CloseLook{k.seen != 0,
                   (k.seen & 2) != 0,
                   (k.seen & 64) != 0,
                   k.same_pixels != 0,
                   static_cast<closelook::Kind>(k.kind),
                   static_cast<closelook::Contained>(k.contained),
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
                   looked_for};
}

CatalogCloseLook kept_of(const ContentHash& first, const ContentHash& second, const CloseLook& look) {
  const int looked_for = look.looked_for ? 1 + 2 * look.looked_for->cuts + 4 * look.looked_for->turned : 0;
  const Kept k{static_cast<std::uint8_t>(look.seen + 2 * look.in_srgb + 4 * look.first_saved_again +
                                         8 * look.second_saved_again + 16 * look.first_sharper +
                                         32 * look.second_sharper + 64 * look.one_shows_all),
               look.same_pixels,
               static_cast<std::uint8_t>(look.kind),
               static_cast<std::uint8_t>(look.contained),
               look.enlarged,
               look.first_framed,
               look.second_framed,
               static_cast<std::uint8_t>(looked_for),
               look.scale,
               look.first_place,
               look.second_place};
  CatalogCloseLook out{first, second, kLookVersion, {}};
  out.verdict.resize(sizeof k);
  std::memcpy(out.verdict.data(), &k, sizeof k);
  return out;
}

Standing standing_of(const CloseLook& look, bool first_stays) {
  // A crop is removable where the whole has about as many pixels for the same content.
  constexpr float kSameDetail = 0.97F;
  if (!look.seen) return Standing::unseen;
  if (look.same_pixels) return Standing::same;
  if (look.kind != closelook::Kind::same) return Standing::other;
  if (look.contained == closelook::Contained::neither) return Standing::other;
  // Pixels of the removable picture per pixel of the kept one, along a side.
  const float scale = first_stays ? look.scale : (look.scale > 0 ? 1 / look.scale : 0);
  // More pixels count as more detail, unless the check found no finer detail in them.
  constexpr float kLittleMore = 1.05F;
  // A scaled copy with fewer pixels looks sharper, so sharpness counts only at about the same number of pixels or more.
  if (look.contained == closelook::Contained::both && scale >= 1 / kLittleMore && look.sharper(!first_stays))
    return Standing::has_more_detail;
  if (look.contained == closelook::Contained::both)
    return scale <= kLittleMore || look.enlarged ? Standing::same : Standing::has_more_detail;
  if ((look.contained == closelook::Contained::first) != first_stays) {  // a crop of the kept picture
    return scale <= 1 / kSameDetail ? Standing::same : Standing::has_more_detail;
  }
  return scale >= kSameDetail ? Standing::contains : Standing::shows_more;
}

}  // namespace millrace::dedupe
