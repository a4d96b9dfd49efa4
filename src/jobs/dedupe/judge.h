// Enters: pairs of pictures that might be the same.
// Leaves: a verdict on each by their pixels, kept in the catalogue.
// Never: decodes a picture: it looks at the catalogue's thumbnails.
#pragma once

#include <unordered_map>
#include <vector>

#include "src/jobs/dedupe/library.h"
#include "src/kernels/alike/alike.h"

namespace millrace::dedupe {

// Two pictures, a < b, and in which orientations of b they are to be compared: a bit each, by index_of().
struct Candidate {
  std::uint32_t a = 0, b = 0;
  std::uint8_t orientations = 1;

  bool in(Orientation o) const { return (orientations >> index_of(o) & 1) != 0; }
};

struct Judgement {
  alike::Kind kind = alike::Kind::different;
  float score = 0;
};

class Judge {
 public:
  Judge(const Library& library, Catalog& catalog, RunContext& context);

  // Looks at all that has no verdict yet, in parallel, in batches that fit the budget.
  void look_at(const std::vector<Candidate>& candidates);
  // The best verdict over the candidate's orientations; looked at now if need be.
  Judgement judgement(const Candidate& candidate);

  std::uint64_t looked_at() const { return looked_at_; }

 private:
  struct Look {
    std::uint32_t a, b;
    Orientation orientation;
    Judgement result;
  };
  using Key = std::uint64_t;  // a, b and orientation packed: 30 bits each and 3
  static Key key_of(std::uint32_t a, std::uint32_t b, Orientation o) {
    return static_cast<Key>(a) << 33 | static_cast<Key>(b) << 3 | index_of(o);
  }
  void run_batch(std::vector<Look>& looks, std::size_t begin, std::size_t end);

  const Library& library_;
  Catalog& catalog_;
  RunContext& context_;
  std::unordered_map<Key, Judgement> known_;
  std::uint64_t looked_at_ = 0;
};

}  // namespace millrace::dedupe
