// Input: pairs of appearances that might be the same picture.
// Output: a verdict on each by their pixels; what a grouping asked for is kept in the catalogue.
// Never: decodes a picture: it looks at the catalogue's thumbnails.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "src/jobs/dedupe/catalog/catalog.h"
#include "src/kernels/similarity/similarity.h"
#include "src/pipeline/run_context.h"

namespace millrace::dedupe {

// Two appearances, a < b.
struct AppearancePair {
  std::uint64_t a = 0, b = 0;
  bool operator==(const AppearancePair&) const = default;
};

struct Judgement {
  similarity::Kind kind = similarity::Kind::different;
  float score = 0;
};
// Of two ways in which two pictures meet the one that counts.
bool better(const Judgement& x, const Judgement& y);

// As a catalogue keeps it.
CatalogScore score_of(const AppearancePair& pair, const Judgement& judgement);

class PairVerifier {
 public:
  PairVerifier(Catalog& catalog, RunContext& context);

  // A verdict on each pair, the wholes of both as they stand: in parallel, in batches that fit the budget. Nothing is
  // kept.
  std::vector<Judgement> compare(std::span<const AppearancePair> pairs) { return verify(pairs, false); }
  // The same, kept in the catalogue: whoever groups the same pictures again asks for it again.
  std::vector<Judgement> judgements(std::span<const AppearancePair> pairs) { return verify(pairs, true); }
  // What is known of a pair need not be looked at; that one is a part of the other counts as well.
  void know(const AppearancePair& pair, const Judgement& judgement) { known_.insert_or_assign(pair, judgement); }

  std::uint64_t looked_at() const { return looked_at_; }

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
  // What a batch needs, kept from one to the next.
  struct Scratch {
    std::vector<std::vector<std::uint8_t>> jpegs;
    std::vector<similarity::Features> features;
    std::vector<std::uint8_t> usable;
  };
  std::vector<Judgement> verify(std::span<const AppearancePair> pairs, bool keep);
  void look_at(std::span<PendingPair> pending, Scratch& scratch);
  void keep(std::span<const PendingPair> pending);

  Catalog& catalog_;
  RunContext& context_;
  std::unordered_map<AppearancePair, Judgement, Hash> known_;
  std::uint64_t looked_at_ = 0;
};

}  // namespace millrace::dedupe
