// Input: some of the rows that a search compares.
// Output: the results of comparing these rows with each other and with all earlier rows, in the catalog's format.
// Never: holds anything but these members.
#pragma once

#include <vector>

#include "src/jobs/dedupe/catalog/catalog.h"

namespace millrace::dedupe {

// Arguments of Catalog::put_compared_appearances() and Catalog::put().
struct ComparedBatch {
  std::uint64_t rule = 0;
  std::vector<std::uint8_t> compared_appearances, codes;
  std::vector<CatalogLink> links;
  std::vector<CatalogScore> scores;  // judgements of pairs in dense groups
};

}  // namespace millrace::dedupe
