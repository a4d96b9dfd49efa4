// Input: pairs of pictures that a look at 64 x 64 pixels called the same.
// Output: what a close look says of each, which the catalogue keeps.
// Never: keeps pixels, or looks at a pair twice in the life of a catalogue while the same is looked for.
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

// Indexes into Library::pictures.
using PicturePair = std::pair<std::uint32_t, std::uint32_t>;

// Who looks.
class Looks {
 public:
  virtual ~Looks() = default;
  // Looks at what is not known yet. Pairs of one first picture are best given together.
  virtual void look(std::span<const PicturePair> pairs) = 0;
  // What came of it, with the lower index as the first; nullptr for a pair that was not looked at.
  virtual const CloseLook* find(std::uint32_t a, std::uint32_t b) const = 0;
  // How many pairs were looked at in this run.
  virtual std::uint64_t looked_at() const = 0;
};

// Looks at the files themselves, in parallel: the first picture of neighbouring pairs is decoded once.
class CloseLooks : public Looks {
 public:
  CloseLooks(const Options& options, const Library& library, Catalog& catalog, RunContext& context);

  // Failure(out_of_memory) when the budget has no room for a comparison.
  void look(std::span<const PicturePair> pairs) override;
  const CloseLook* find(std::uint32_t a, std::uint32_t b) const override;
  std::uint64_t looked_at() const override { return looked_at_; }

 private:
  struct Task;
  bool is_compressed_more(const Picture& one, const Picture& other) const;
  void note_unshown(std::uint32_t picture, const Unshown& met);
  void find_saved_again(std::uint32_t first, std::uint32_t second, CloseLook& look) const;
  void look_at(Task& task, closelook::Looker& looker, Span& span) const;
  // What the origin of a picture says of its colours; `known` where it could be read.
  struct Colours {
    bool known = false;
    std::optional<Holding> profile{};  // none: sRGB's
  };
  Colours colours_of(std::uint32_t picture);
  // Of pictures that were asked for.
  bool are_of_one_profile(std::uint32_t a, std::uint32_t b) const;

  const Options& options_;
  const Library& library_;
  Catalog& catalog_;
  RunContext& context_;
  std::map<PicturePair, CloseLook> known_;
  std::map<std::uint32_t, Colours> colours_;  // of each picture that was asked for
  std::uint64_t looked_at_ = 0;
};

}  // namespace millrace::dedupe
