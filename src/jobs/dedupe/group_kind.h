// Input: nothing.
// Output: the kinds of groups, by the names that the page and the JSON give them.
// Never: says which is a group's: that is src/jobs/dedupe/group.
#pragma once

#include <array>

namespace millrace::dedupe {

// Why the members of a group stand together. The first three can free space, so what to
// remove is suggested; the others inform, and every member is kept unless a person says otherwise.
enum class GroupKind {
  identical,    // the same bytes
  same_pixels,  // other metadata
  similar,      // all that differs is what copying does to a picture
  altered,      // changed in a part of it, each in focus somewhere else, or a drawing mirrored or turned
  framed,       // each shows what the other lacks
  series,       // other presses of the shutter
  recoloured,   // another exposure, other colours, a strong edit
  burst,        // shots within a second of each other
  related,      // found near each other, looked at, different
};
inline constexpr std::array<GroupKind, 9> kGroupKinds = {
    GroupKind::identical, GroupKind::same_pixels, GroupKind::similar, GroupKind::altered, GroupKind::framed,
    GroupKind::series,    GroupKind::recoloured,  GroupKind::burst,   GroupKind::related};

const char* name_of(GroupKind kind);

}  // namespace millrace::dedupe
