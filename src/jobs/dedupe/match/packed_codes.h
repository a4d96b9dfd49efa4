// Input: appearances with their codes, compared with one another under a rule.
// Output: the same in the catalog's format, so that the next run knows which appearances were compared.
// Never: is read on another kind of machine: words in a catalog have the byte order of the machine that wrote it.
#pragma once

#include <fmt/format.h>

#include <cstring>
#include <span>
#include <vector>

#include "src/io/file/file_reader.h"
#include "src/jobs/dedupe/scan/thumbnail_codes.h"

namespace millrace::dedupe {

// Key under which the catalog keeps the compared appearances. Another rule has another key, so it compares them again.
inline std::uint64_t catalog_rule_key(const MatchRule& rule) {
  // The last word described a step that is done in another way now. It remains so that existing catalogs stay valid.
  const std::string text = fmt::format("1 {} {} false", rule.text, rule.middle);
  return short_hash({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

// Record of a batch in the catalog: an appearance and its codes, as 64-bit words of this machine.
struct PackedCodes {
  std::uint64_t thumbnail_digest;
  ThumbnailCodes codes;
};
static_assert(sizeof(PackedCodes) == 7 * sizeof(std::uint64_t));

inline void append_packed_codes(std::vector<std::uint8_t>& part, const PackedCodes& one) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&one);
  part.insert(part.end(), bytes, bytes + sizeof(one));
}
template <typename Visit>
void for_each_packed_codes(std::span<const std::uint8_t> part, Visit&& visit) {
  PackedCodes one;
  for (std::size_t at = 0; at + sizeof(one) <= part.size(); at += sizeof(one)) {
    std::memcpy(&one, part.data() + at, sizeof(one));
    visit(one);
  }
}

}  // namespace millrace::dedupe
