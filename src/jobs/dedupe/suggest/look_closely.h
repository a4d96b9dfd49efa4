// Input: pairs of pictures whose thumbnails of 64 x 64 pixels match.
// Output: the result of the detailed check of each pair, which the catalog keeps.
// Never: keeps pixels; checks a pair twice in the life of a catalog under the same options.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "src/io/image/holding.h"
#include "src/jobs/dedupe/scan/library.h"
#include "src/jobs/dedupe/suggest/close_look.h"
#include "src/kernels/closelook/closelook.h"
#include "src/pipeline/run_context.h"

namespace millrace::dedupe {

// Pair of indexes into Library::pictures.
using PicturePair = std::pair<std::uint32_t, std::uint32_t>;

// Interface of the detailed check of pairs.
class Looks {
 public:
  virtual ~Looks() = default;
  // Checks the pairs that have no result yet. It is fastest if pairs with the same first picture are adjacent.
  virtual void look(std::span<const PicturePair> pairs) = 0;
  // Returns the result, with the lower index as the first picture; nullptr for a pair that was not checked.
  virtual const CloseLook* find(std::uint32_t a, std::uint32_t b) const = 0;
  // Number of pairs that were checked in this run.
  virtual std::uint64_t looked_at() const = 0;
};

// Checks the files themselves, in parallel. The first picture of adjacent pairs is decoded once.
class CloseLooks : public Looks {
 public:
  CloseLooks(const Options& options, const Library& library, Catalog& catalog, RunContext& context);

  // Throws Failure(out_of_memory) when the budget has no room for a comparison.
  void look(std::span<const PicturePair> pairs) override;
  const CloseLook* find(std::uint32_t a, std::uint32_t b) const override;
  std::uint64_t looked_at() const override { return looked_at_; }

 private:
  struct Task;
  bool is_compressed_more(const Picture& one, const Picture& other) const;
  void note_unshown(std::uint32_t picture, const Unshown& met);
  void find_saved_again(std::uint32_t first, std::uint32_t second, CloseLook& look) const;
  void look_at(Task& task, closelook::Looker& looker, Span& span) const;
  // Colour profile of a picture, from its origin; `known` if the origin could be read.
  struct Colours {
    bool known = false;
    std::optional<Holding> profile{};  // nullopt: sRGB
  };
  Colours colours_of(std::uint32_t picture);
  // True if both have one profile. Both must have been passed to colours_of() before.
  bool are_of_one_profile(std::uint32_t a, std::uint32_t b) const;

  const Options& options_;
  const Library& library_;
  Catalog& catalog_;
  RunContext& context_;
  std::map<PicturePair, CloseLook> known_;
  std::map<std::uint32_t, Colours> colours_;  // of each picture for which colours_of() was called
  std::uint64_t looked_at_ = 0;
};

}  // namespace millrace::dedupe
