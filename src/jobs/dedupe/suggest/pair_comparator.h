// Input: pairs of pictures whose thumbnails of 64 x 64 pixels match.
// Output: the result of the detailed check of each pair, which the catalog keeps.
// Never: keeps pixels; checks a pair twice in the life of a catalog under the same options.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "src/io/image/extra_data.h"
#include "src/jobs/dedupe/scan/library.h"
#include "src/jobs/dedupe/suggest/comparison.h"
#include "src/kernels/detailed_check/detailed_check.h"
#include "src/pipeline/run_context.h"

namespace millrace::dedupe {

// Pair of indexes into Library::pictures.
using PicturePair = std::pair<std::uint32_t, std::uint32_t>;

// Interface of the detailed check of pairs.
class PairComparator {
 public:
  virtual ~PairComparator() = default;
  // Checks the pairs that have no result yet. It is fastest if pairs with the same first picture are adjacent.
  virtual void check(std::span<const PicturePair> pairs) = 0;
  // Returns the result, with the lower index as the first picture; nullptr for a pair that was not checked.
  virtual const Comparison* find(std::uint32_t a, std::uint32_t b) const = 0;
  // Number of pairs that were checked in this run.
  virtual std::uint64_t compared_pairs() const = 0;
};

// Picture as it was decoded for the detailed check.
struct CheckedPicture;

// Checks the files themselves, in parallel. The first picture of adjacent pairs is decoded once.
class FilePairComparator : public PairComparator {
 public:
  FilePairComparator(const DedupeOptions& options, const Library& library, Catalog& catalog, RunContext& context);

  // Throws Failure(out_of_memory) when the budget has no room for a comparison.
  void check(std::span<const PicturePair> pairs) override;
  const Comparison* find(std::uint32_t a, std::uint32_t b) const override;
  std::uint64_t compared_pairs() const override { return compared_pairs_; }

 private:
  struct Task;
  struct OtherPicture;
  bool is_compressed_more(const LibraryPicture& one, const LibraryPicture& other) const;
  void record_unshown_content(std::uint32_t picture, const UnshownData& met);
  void detect_resave(std::uint32_t first, std::uint32_t second, Comparison& comparison) const;
  void compare_task(Task& task, detailed_check::DetailedComparator& detailed_comparator, Span& span) const;
  void compare_pair(std::uint32_t anchor, OtherPicture& other, const CheckedPicture& anchor_picture,
                    const CheckedPicture& other_picture, detailed_check::DetailedComparator& detailed_comparator) const;
  bool have_same_pixels(std::uint32_t a, std::uint32_t b) const;
  // Colour profile of a picture, from its origin; `known` if the origin could be read.
  struct Colours {
    bool known = false;
    std::optional<ExtraData> profile{};  // nullopt: sRGB
  };
  Colours read_color_profile(std::uint32_t picture);
  // True if both have one profile. Both must have been passed to read_color_profile() before.
  bool have_same_profile(std::uint32_t a, std::uint32_t b) const;

  const DedupeOptions& options_;
  const Library& library_;
  Catalog& catalog_;
  RunContext& context_;
  std::map<PicturePair, Comparison> known_;
  std::map<std::uint32_t, Colours> colours_;  // of each picture for which read_color_profile() was called
  std::uint64_t compared_pairs_ = 0;
};

}  // namespace millrace::dedupe
