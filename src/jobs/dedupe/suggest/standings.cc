#include "src/jobs/dedupe/suggest/standings.h"

#include <algorithm>

#include "src/jobs/dedupe/suggest/one_shot.h"

namespace millrace::dedupe {
bool Standings::is_reference(std::uint32_t picture) const {
  const auto& files = library_.pictures[picture].files;
  return std::any_of(files.begin(), files.end(), [&](std::uint32_t f) { return library_.files[f].reference; });
}

bool Standings::are_one_shot(std::uint32_t a, std::uint32_t b) const {
  for (const std::uint32_t f : library_.pictures[a].files) {
    for (const std::uint32_t g : library_.pictures[b].files) {
      if (is_one_shot({library_.files[f].entry.path, library_.pictures[a].data, origins_.of(f)},
                      {library_.files[g].entry.path, library_.pictures[b].data, origins_.of(g)}))
        return true;
    }
  }
  return false;
}

Standing Standings::of(std::uint32_t leader, std::uint32_t picture) const {
  const CloseLook* const look = looks_.find(leader, picture);
  if (look == nullptr) return Standing::unseen;
  const Standing by_look = standing_of(*look, leader < picture);
  if (by_look == Standing::unseen) return by_look;
  // A program may have written another date; equal pixels count more.
  if (!look->same_pixels && same_shutter(origin_of(leader), origin_of(picture)) == SameShutter::different)
    return Standing::other;
  return by_look;
}

bool Standings::belong_together(std::uint32_t leader, std::uint32_t picture) const {
  const Standing found = of(leader, picture);
  return found != Standing::other && found != Standing::unseen;
}

bool Standings::stays_as_one_shot(std::uint32_t leader, std::uint32_t picture) const {
  return belong_together(leader, picture) && are_one_shot(leader, picture);
}

bool Standings::are_as_good(std::uint32_t leader, std::uint32_t picture) const {
  return of(leader, picture) == Standing::same && !are_one_shot(leader, picture) &&
         standing_of(*looks_.find(leader, picture), picture < leader) == Standing::same;
}

Lead Standings::better_lead(std::uint32_t leader, std::uint32_t picture) const {
  if (of(leader, picture) == Standing::contains && !are_one_shot(leader, picture)) return Lead::whole;
  // A leader that gives way for its frame or its pixels must have no more detail.
  if (!are_as_good(leader, picture)) return Lead::by_rule;
  const CloseLook& look = *looks_.find(leader, picture);
  if (is_source(picture, leader, look)) return preferred_by_(leader, picture) == "bytes" ? Lead::source : Lead::by_rule;
  const bool framed = look.framed(leader < picture);
  if (!(look.enlarged || framed) || preferred_by_(leader, picture) != "pixels") return Lead::by_rule;
  return framed ? Lead::unframed : Lead::detail;
}

bool Standings::is_source(std::uint32_t picture, std::uint32_t of, const CloseLook& look) const {
  if (look.saved_again(of < picture)) return true;
  if (!look.same_pixels) return false;
  const auto format = [&](std::uint32_t p) { return static_cast<ImageFormat>(library_.pictures[p].data.format); };
  const ImageFormat made = format(of);
  return format(picture) == ImageFormat::jpeg && (made == ImageFormat::png || made == ImageFormat::bmp ||
                                                  made == ImageFormat::tiff || made == ImageFormat::pnm);
}

std::optional<Promotion> Standings::promotion(std::uint32_t leader, Lead lead,
                                              std::span<const std::uint32_t> left) const {
  if (is_reference(leader)) return std::nullopt;
  bool preferred = true;  // true while `p` is preferred to the leader by the rule
  for (const std::uint32_t p : left) {
    if (p == leader) {
      preferred = false;
      continue;
    }
    Lead why = better_lead(leader, p);
    if (why == Lead::by_rule && preferred && are_as_good(leader, p)) {
      const CloseLook& look = *looks_.find(leader, p);
      if (!look.enlarged && !look.framed(p < leader) && !is_source(leader, p, look)) why = lead;
    }
    if (why != Lead::by_rule) return Promotion{p, why};
  }
  return std::nullopt;
}

GroupKind Standings::kind(std::uint32_t leader, std::uint32_t picture) const {
  const CloseLook* const look = looks_.find(leader, picture);
  if (look == nullptr || !look->seen || look->kind == closelook::Kind::different) return GroupKind::related;
  if (same_shutter(origin_of(leader), origin_of(picture)) == SameShutter::different) return GroupKind::series;
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

}  // namespace millrace::dedupe
