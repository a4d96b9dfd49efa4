// Enters: appearances with their codes, compared with one another under a rule.
// Leaves: the same as the catalogue keeps them, so that the next run knows.
// Never: is read on another kind of machine: a catalogue's words are of the machine that wrote it.
#pragma once

#include <fmt/format.h>

#include <cstring>
#include <span>
#include <vector>

#include "src/io/file/reader.h"
#include "src/jobs/dedupe/match/turned_thumbnails.h"

namespace millrace::dedupe {

// Under which the catalogue keeps what was joined: another rule joins anew.
inline std::uint64_t rule_number(const Rule& rule, bool orientations) {
  const std::string text = fmt::format("1 {} {} {}", rule.text, rule.middle, orientations);
  return short_hash({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

// How a part lies in the catalogue: each appearance and its codes in all views, 64-bit words of this machine.
struct Packing {
  std::size_t views;
  std::size_t bytes() const { return sizeof(std::uint64_t) + views * sizeof(ThumbnailCodes); }

  // `codes_of(view)` gives the codes of each view.
  template <typename CodesOf>
  void append(std::vector<std::uint8_t>& part, std::uint64_t appearance, const CodesOf& codes_of) const {
    const auto put = [&](const auto& value) {
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
      part.insert(part.end(), bytes, bytes + sizeof(value));
    };
    put(appearance);
    for (std::size_t view = 0; view < views; ++view) put(codes_of(view));
  }
  template <typename Visit>
  void each(std::span<const std::uint8_t> part, Visit&& visit) const {
    TurnedCodes codes;
    std::uint64_t appearance = 0;
    for (std::size_t at = 0; at + bytes() <= part.size(); at += bytes()) {
      std::memcpy(&appearance, part.data() + at, sizeof(appearance));
      std::memcpy(codes.data(), part.data() + at + sizeof(appearance), views * sizeof(ThumbnailCodes));
      visit(appearance, std::span<const ThumbnailCodes>(codes.data(), views));
    }
  }
};

}  // namespace millrace::dedupe
