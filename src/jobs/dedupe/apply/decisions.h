// Input: the text of decisions.json, from a page, a person or a program: it may be anything.
// Output: the decisions on each file, checked for form; or the number of the wrong entry with the reason.
// Never: accesses a disk, or holds more than the entries of the text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/error.h"
#include "src/io/file/file_reader.h"

namespace millrace::dedupe {

enum class DecisionKind : std::uint8_t { remove, keep, confirmed_distinct };

struct Decision {
  std::string group;
  DecisionKind kind = DecisionKind::keep;
  std::string path;  // bytes, absolute
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  ContentHash hash{};
  std::optional<ContentHash> with;  // for confirmed_distinct: the other content; without it, the whole group
  bool chosen = false;              // for remove: a person marked this very file, and did not just accept a suggestion
  // For remove: number of members of the group when a person confirmed twice that none of them shall be kept; 0 without
  // such a confirmation.
  std::uint64_t whole_group = 0;
  bool reference = false;  // the file is in a reference folder and is kept whatever the decisions say
};

// The page never marks a reference for removal, so "remove" entries from a page contain none. Other writers name the
// reference folders in "references", or set the flag "reference" on an entry.
struct Decisions {
  std::vector<Decision> entries;
  std::vector<std::string> references;  // folders, absolute
};

inline constexpr std::size_t kMaxDecisionBytes = std::size_t{1} << 30;
inline constexpr std::size_t kMaxDecisions = 4'000'000;

// Parses {"millrace_decisions": 1, "decisions": [{"group", "action", "path", "path_base64"?, "size", "mtime_ns",
// "hash", "with"?, "chosen"?, "whole_group"?, "reference"?}, ...], "references"?: [folder | {"path", "path_base64"?},
// ...]}. Ignores other fields.
Outcome<Decisions> parse_decisions(std::string_view text);

}  // namespace millrace::dedupe
