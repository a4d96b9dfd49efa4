#include "src/jobs/dedupe/suggest/close_look.h"

#include <cstring>

namespace millrace::dedupe {
namespace {

// Changes whenever the same pictures may be judged differently.
constexpr std::uint32_t kVersion = 14;

// What the catalogue keeps of a look.
struct Kept {
  std::uint8_t seen, same_pixels, kind, contained, enlarged, first_framed, second_framed;
  std::uint8_t none;
  float scale;
  std::array<float, 4> first_place, second_place;
};
static_assert(sizeof(Kept) == 44 && sizeof(Kept) <= CatalogCloseLook::kMostBytes);

}  // namespace

std::optional<CloseLook> close_look_from(const CatalogCloseLook& kept) {
  if (kept.version != kVersion || kept.verdict.size() != sizeof(Kept)) return std::nullopt;
  Kept k;
  std::memcpy(&k, kept.verdict.data(), sizeof k);
  if (k.kind > static_cast<std::uint8_t>(closelook::Kind::different) ||
      k.contained > static_cast<std::uint8_t>(closelook::Contained::neither))
    return std::nullopt;
  return CloseLook{k.seen != 0,
                   k.same_pixels != 0,
                   static_cast<closelook::Kind>(k.kind),
                   static_cast<closelook::Contained>(k.contained),
                   k.scale,
                   k.enlarged != 0,
                   k.first_framed != 0,
                   k.second_framed != 0,
                   k.first_place,
                   k.second_place};
}

CatalogCloseLook kept_of(const ContentHash& first, const ContentHash& second, const CloseLook& look) {
  const Kept k{look.seen,
               look.same_pixels,
               static_cast<std::uint8_t>(look.kind),
               static_cast<std::uint8_t>(look.contained),
               look.enlarged,
               look.first_framed,
               look.second_framed,
               0,
               look.scale,
               look.first_place,
               look.second_place};
  CatalogCloseLook out{first, second, kVersion, {}};
  out.verdict.resize(sizeof k);
  std::memcpy(out.verdict.data(), &k, sizeof k);
  return out;
}

Standing standing_of(const CloseLook& look, bool first_stays) {
  // A part may go where the whole has about as many pixels for it.
  constexpr float kSameDetail = 0.97F;
  if (!look.seen) return Standing::unseen;
  if (look.same_pixels) return Standing::same;
  if (look.kind != closelook::Kind::same) return Standing::other;
  if (look.contained == closelook::Contained::neither) return Standing::other;
  // Pixels of the one that would go to one of the other's.
  const float scale = first_stays ? look.scale : (look.scale > 0 ? 1 / look.scale : 0);
  // More pixels are more detail, unless a look found that they are none.
  constexpr float kLittleMore = 1.05F;
  if (look.contained == closelook::Contained::both)
    return scale <= kLittleMore || look.enlarged ? Standing::same : Standing::has_more_detail;
  if ((look.contained == closelook::Contained::first) != first_stays) {  // it is a part of the one that stays
    return scale <= 1 / kSameDetail ? Standing::same : Standing::has_more_detail;
  }
  return scale >= kSameDetail ? Standing::contains : Standing::shows_more;
}

}  // namespace millrace::dedupe
