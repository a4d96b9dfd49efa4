// Enters: pairs of appearances that might be the same picture.
// Leaves: a verdict on each by their pixels; what a grouping asked for is kept in the catalogue.
// Never: decodes a picture: it looks at the catalogue's thumbnails.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "src/jobs/dedupe/catalog/catalog.h"
#include "src/kernels/similarity/similarity.h"
#include "src/pipeline/run_context.h"

namespace millrace::dedupe {

// Two appearances, a < b, and in which orientations of b they are to be compared: a bit each, by index_of().
struct AppearancePair {
  std::uint64_t a = 0, b = 0;
  std::uint8_t orientations = 1;

  bool in(Orientation o) const { return (orientations >> index_of(o) & 1) != 0; }
};

struct Judgement {
  similarity::Kind kind = similarity::Kind::different;
  float score = 0;
};
// Of two orientations the one that counts.
bool better(const Judgement& x, const Judgement& y);

class PairVerifier {
 public:
  PairVerifier(Catalog& catalog, RunContext& context);

  // The best verdict over each pair's orientations: in parallel, in batches that fit the budget. Nothing is kept.
  std::vector<Judgement> compare(std::span<const AppearancePair> pairs) { return verify(pairs, false); }
  // The same, kept in the catalogue: whoever groups the same pictures again asks for it again.
  std::vector<Judgement> judgements(std::span<const AppearancePair> pairs) { return verify(pairs, true); }
  // What is known of a pair as it is need not be looked at.
  void know(std::uint64_t a, std::uint64_t b, const Judgement& judgement) {
    known_.try_emplace({a, b, Orientation::upright}, judgement);
  }

  std::uint64_t looked_at() const { return looked_at_; }

 private:
  struct PendingPair {
    std::uint64_t a, b;
    Orientation orientation;
    std::size_t pair;
    Judgement result;
  };
  struct Key {
    std::uint64_t a, b;
    Orientation orientation;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    // Appearances are hashes already.
    std::size_t operator()(const Key& k) const { return k.a ^ (k.b << 1 | k.b >> 63) ^ index_of(k.orientation); }
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
  std::unordered_map<Key, Judgement, Hash> known_;
  std::uint64_t looked_at_ = 0;
};

}  // namespace millrace::dedupe
