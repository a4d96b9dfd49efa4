// Input: what was looked at closely, where files come from, and what the keep rule prefers.
// Output: what one picture is beside another that leads: whether it may go, should lead itself, or how it is shown.
// Never: looks at a picture, or suggests one.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "src/jobs/dedupe/group_kind.h"
#include "src/jobs/dedupe/suggest/look_closely.h"
#include "src/jobs/dedupe/suggest/origins.h"

namespace millrace::dedupe {

// Why one leads its set: it is the best by the rule; or the best by the rule is a part of it, and it has all of that
// one's detail; or an enlargement of it; or it with a frame around; or a larger file that was made of it.
enum class Lead : std::uint8_t { by_rule, whole, detail, unframed, source };

// The criterion for which the rule prefers the first of two pictures; empty where it does not.
using PreferredBy = std::function<std::string(std::uint32_t, std::uint32_t)>;

// Who leads in the place of another.
struct Promotion {
  std::uint32_t picture;
  Lead why;
};

// Pictures by their indexes in the library. All that is given outlives it.
class Standings {
 public:
  Standings(const Library& library, const Origins& origins, const PreferredBy& preferred_by, const Looks& looks)
      : library_(library), origins_(origins), preferred_by_(preferred_by), looks_(looks) {}

  // Of a picture beside the one that leads. Another press of the shutter is another picture.
  Standing of(std::uint32_t leader, std::uint32_t picture) const;
  // The same picture as far as that can be told, or a part or a whole of it.
  bool belong_together(std::uint32_t leader, std::uint32_t picture) const;
  // A RAW and its JPEG, a HEIC and its JPEG: both stay.
  bool stays_as_one_shot(std::uint32_t leader, std::uint32_t picture) const;
  // Detail before preference: who of `left`, in the order of the rule, should lead instead. A whole leads before its
  // part. What the rule prefers for its pixels alone gives way to what it enlarges or frames, and that one to what the
  // rule likes better and is as good. What it prefers for its bytes alone gives way to the JPEG that it was made of.
  // Nobody leads in the place of a reference. `lead` says why the leader does.
  std::optional<Promotion> promotion(std::uint32_t leader, Lead lead, std::span<const std::uint32_t> left) const;
  // What a pair that is not suggested is shown as.
  GroupKind kind(std::uint32_t leader, std::uint32_t picture) const;

 private:
  const Provenance& origin_of(std::uint32_t picture) const { return origins_.of(library_.pictures[picture].files[0]); }
  bool are_one_shot(std::uint32_t a, std::uint32_t b) const;
  bool is_reference(std::uint32_t picture) const;
  // Either may go for the other.
  bool are_as_good(std::uint32_t leader, std::uint32_t picture) const;
  // A JPEG of which a file without loss was made: the other way round the pixels would differ.
  bool is_source(std::uint32_t picture, std::uint32_t of, const CloseLook& look) const;
  // Why a picture has more to show than the one that leads; by_rule: it has not.
  Lead better_lead(std::uint32_t leader, std::uint32_t picture) const;

  const Library& library_;
  const Origins& origins_;
  const PreferredBy& preferred_by_;
  const Looks& looks_;
};

}  // namespace millrace::dedupe
