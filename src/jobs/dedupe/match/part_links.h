// Input: the appearances of a library.
// Output: which of them are a part of another (a crop, what a frame encloses, a picture on a screen), or another
//   turned.
// Never: compares again what an earlier run compared: the catalogue knows which appearances met.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "src/jobs/dedupe/match/compared_part.h"
#include "src/jobs/dedupe/match/parted_picture.h"
#include "src/pipeline/run_context.h"

namespace millrace::dedupe {

// Links between these appearances, sorted, each once. `appearances` sorted, each once. Those of which `left_out` is
// true (of a crowd nearly every two would meet) take no part. Appearances that are new to the catalogue meet one
// another and all that it knows, a part at a time, as in find_links().
std::vector<CatalogLink> find_part_links(std::span<const std::uint64_t> appearances, WantedParts wanted,
                                         const std::function<bool(std::uint64_t)>& left_out, Catalog& catalog,
                                         RunContext& context);

// The same for many runs to share: of all appearances that take part, sorted, some and those before them.
class PartsToCompare {
 public:
  // What is given outlives it; the catalogue has their thumbnails.
  PartsToCompare(std::span<const std::uint64_t> appearances, WantedParts wanted, Catalog& catalog, RunContext& context);
  ~PartsToCompare();
  ComparedPart compare(std::size_t begin, std::size_t end);

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace millrace::dedupe
