// Input: appearances with their codes, compared with one another under a rule.
// Output: the same as the catalogue keeps them, so that the next run knows.
// Never: is read on another kind of machine: a catalogue's words are of the machine that wrote it.
#pragma once

#include <fmt/format.h>

#include <cstring>
#include <span>
#include <vector>

#include "src/io/file/reader.h"
#include "src/jobs/dedupe/scan/thumbnail_codes.h"

namespace millrace::dedupe {

// Under which the catalogue keeps what was joined: another rule joins anew.
inline std::uint64_t rule_number(const Rule& rule) {
  // What the last word was about is found otherwise now; it stays, and so does what catalogues hold.
  const std::string text = fmt::format("1 {} {} false", rule.text, rule.middle);
  return short_hash({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

// How a part lies in the catalogue: appearances, each with its codes, 64-bit words of this machine.
struct PackedCodes {
  std::uint64_t appearance;
  ThumbnailCodes codes;
};
static_assert(sizeof(PackedCodes) == 7 * sizeof(std::uint64_t));

inline void append_packed(std::vector<std::uint8_t>& part, const PackedCodes& one) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&one);
  part.insert(part.end(), bytes, bytes + sizeof(one));
}
template <typename Visit>
void each_packed(std::span<const std::uint8_t> part, Visit&& visit) {
  PackedCodes one;
  for (std::size_t at = 0; at + sizeof(one) <= part.size(); at += sizeof(one)) {
    std::memcpy(&one, part.data() + at, sizeof(one));
    visit(one);
  }
}

}  // namespace millrace::dedupe
