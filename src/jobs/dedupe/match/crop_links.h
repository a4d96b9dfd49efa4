// Input: the appearances of a library.
// Output: links between an appearance and another that is a crop of it: a window, the content of a border, or the
// image on a screen. Also links to rotated or mirrored copies.
// Never: compares again the pairs that an earlier run compared: the catalog records which appearances were compared.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "src/jobs/dedupe/match/compared_batch.h"
#include "src/jobs/dedupe/match/crop_comparison.h"
#include "src/pipeline/run_context.h"

namespace millrace::dedupe {

// Returns links between these appearances, sorted, without repeats. `appearances` is sorted without repeats.
// Appearances for which `left_out` is true are skipped: in a dense group nearly every pair would match. New
// appearances are compared with one another and with all in the catalog, one batch at a time, as in find_links().
std::vector<CatalogLink> find_crop_links(std::span<const std::uint64_t> appearances, TransformKinds wanted,
                                         const std::function<bool(std::uint64_t)>& left_out, Catalog& catalog,
                                         RunContext& context);

// Splits the same work among several runs: each compares a range of the sorted appearances with all that come before.
class ShardedCropLinkSearch {
 public:
  // The arguments must outlive the object. The catalog must hold the thumbnails of all appearances.
  ShardedCropLinkSearch(std::span<const std::uint64_t> appearances, TransformKinds wanted, Catalog& catalog,
                        RunContext& context);
  ~ShardedCropLinkSearch();
  ComparedBatch compare(std::size_t begin, std::size_t end);

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace millrace::dedupe
