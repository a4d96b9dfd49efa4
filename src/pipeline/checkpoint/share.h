// Enters: "2/8", as a person or a scheduler says it.
// Leaves: which parts of an output are a run's, where several runs make it.
// Never: says which run makes a part that two have been told to make.
#pragma once

#include <cstdint>
#include <string>

#include "src/base/settings.h"

namespace millrace {

// Parts whose number leaves `index` when divided by `of`.
struct Share {
  std::uint64_t index = 0, of = 0;  // of 0: there is one run, and all are its

  explicit operator bool() const { return of > 0; }
  bool has(std::uint64_t part) const { return of == 0 || part % of == index; }
};

// "K/N", K from 1 to N; or "all". Failure(usage) for anything else: an empty text is a variable that was not set.
Share parse_share(const std::string& text);
// The option --part: of what there are parts, and what the last run does with them.
void describe(Settings& settings, Share& share, const std::string& unit = "shard",
              const std::string& in_the_end = "the last of them puts it together, or millrace finish does");

}  // namespace millrace
