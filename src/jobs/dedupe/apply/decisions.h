// Input: the text of decisions.json, which a page saved or a person or program wrote: it may be anything.
// Output: what shall be done with which file, checked for form; or which entry is wrong and why.
// Never: looks at a disk, or holds more than the text's entries.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/error.h"
#include "src/io/file/reader.h"

namespace millrace::dedupe {

enum class DecisionKind : std::uint8_t { remove, keep, not_duplicates };

struct Decision {
  std::string group;
  DecisionKind kind = DecisionKind::keep;
  std::string path;  // bytes, absolute
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  ContentHash hash{};
  std::optional<ContentHash> with;  // not_duplicates of this one content; without it, of the whole group
  bool chosen = false;              // remove: a person marked this file itself, and accepted no suggestion
  // remove: how many members its group had when a person said twice that none of them shall stay; 0 where nobody did.
  std::uint64_t whole_group = 0;
  bool reference = false;  // the file belongs to a reference folder: it stays whatever is said
};

// How the references of the search are known: the page never marks one of their members, so its "remove" entries hold
// none; other writers name the folders in "references" or set the flag "reference" on an entry.
struct Decisions {
  std::vector<Decision> entries;
  std::vector<std::string> references;  // folders, absolute
};

inline constexpr std::size_t kMostDecisionBytes = std::size_t{1} << 30;
inline constexpr std::size_t kMostDecisions = 4'000'000;

// {"millrace_decisions": 1, "decisions": [{"group", "action", "path", "path_base64"?, "size", "mtime_ns", "hash",
// "with"?, "chosen"?, "whole_group"?, "reference"?}, ...], "references"?: [folder | {"path", "path_base64"?}, ...]};
// what else is there is passed over.
Outcome<Decisions> parse_decisions(std::string_view text);

}  // namespace millrace::dedupe
