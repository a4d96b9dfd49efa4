// Input: some rows of all that a search compares.
// Output: what came of them and all rows before, as a catalogue keeps it that has what came of those.
// Never: more than these members.
#pragma once

#include <vector>

#include "src/jobs/dedupe/catalog/catalog.h"

namespace millrace::dedupe {

// What Catalog::put_joined() is given, and Catalog::put().
struct ComparedPart {
  std::uint64_t rule = 0;
  std::vector<std::uint8_t> joined, codes;
  std::vector<CatalogLink> links;
  std::vector<CatalogScore> scores;  // of those in crowds
};

}  // namespace millrace::dedupe
