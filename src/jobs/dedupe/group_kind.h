// Input: nothing; this header only declares types.
// Output: the kinds of groups, and their names in the page and the JSON.
// Never: determines the kind of a group; src/jobs/dedupe/group does.
#pragma once

#include <array>

namespace millrace::dedupe {

// Reason why the members form a group. Only groups of the first three kinds have removable members. The others are for
// information, and every member is kept unless a person decides otherwise.
enum class GroupKind {
  identical,    // the same bytes
  same_pixels,  // the same pixels, other metadata
  similar,      // the differences are those that copying makes
  altered,      // one place differs, each is in focus somewhere else, or a drawing is mirrored or rotated
  framed,       // each shows content that the other lacks
  series,       // other shots
  recoloured,   // another exposure, other colours, a strong edit
  burst,        // shots within a second of each other
  related,      // similar by hash, compared, and different
};
inline constexpr std::array<GroupKind, 9> kGroupKinds = {
    GroupKind::identical, GroupKind::same_pixels, GroupKind::similar, GroupKind::altered, GroupKind::framed,
    GroupKind::series,    GroupKind::recoloured,  GroupKind::burst,   GroupKind::related};

const char* name_of(GroupKind kind);

}  // namespace millrace::dedupe
