// Input: pairs of appearances that might be the same picture.
// Output: a verdict on each pair by its pixels; compare_and_store() also keeps the verdicts in the catalog.
// Never: decodes an image file: it compares the catalog's thumbnails.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "src/jobs/dedupe/catalog/catalog.h"
#include "src/kernels/similarity/similarity.h"
#include "src/pipeline/run_context.h"

namespace millrace::dedupe {

// A pair of appearances, a < b.
struct AppearancePair {
  std::uint64_t a = 0, b = 0;
  bool operator==(const AppearancePair&) const = default;
};

struct Judgement {
  similarity::SimilarityKind kind = similarity::SimilarityKind::different;
  float score = 0;
};
// True if x counts more than y, where two pictures match in two ways.
bool is_better_match(const Judgement& x, const Judgement& y);

// Converts a judgement to the catalog's format.
CatalogScore score_of(const AppearancePair& pair, const Judgement& judgement);

class ThumbnailComparator {
 public:
  ThumbnailComparator(Catalog& catalog, RunContext& context);

  // Returns a verdict on each pair, both images whole and upright. Works in parallel, in batches that fit the memory
  // budget. Writes nothing to the catalog.
  std::vector<Judgement> compare(std::span<const AppearancePair> pairs) { return verify(pairs, false); }
  // The same, and keeps the verdicts in the catalog: a later grouping of the same images asks for them again.
  std::vector<Judgement> compare_and_store(std::span<const AppearancePair> pairs) { return verify(pairs, true); }
  // Records a verdict that is already known, so that the pair is not compared. A match of one picture with a crop of
  // the other counts as well.
  void add_judgement(const AppearancePair& pair, const Judgement& judgement) {
    known_.insert_or_assign(pair, judgement);
  }

  std::uint64_t compared_pairs() const { return compared_pairs_; }

 private:
  struct PendingPair {
    AppearancePair appearances;
    std::size_t place;
    Judgement result;
  };
  struct Hash {
    // Appearances are hashes already.
    std::size_t operator()(const AppearancePair& k) const { return k.a ^ (k.b << 1 | k.b >> 63); }
  };
  // Buffers of a batch, reused by the next.
  struct Scratch {
    std::vector<std::vector<std::uint8_t>> jpegs;
    std::vector<similarity::Features> features;
    std::vector<std::uint8_t> usable;
  };
  std::vector<Judgement> verify(std::span<const AppearancePair> pairs, bool keep);
  void compare_pending(std::span<PendingPair> pending, Scratch& scratch);
  void keep(std::span<const PendingPair> pending);

  Catalog& catalog_;
  RunContext& context_;
  std::unordered_map<AppearancePair, Judgement, Hash> known_;
  std::uint64_t compared_pairs_ = 0;
};

}  // namespace millrace::dedupe
