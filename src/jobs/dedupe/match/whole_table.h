// Input: codes of whole pictures, and of parts of other pictures.
// Output: candidate pairs of a part and a whole (kernels/parts/parts.h: meet()).
// Never: looks at pixels.
//
// The table lists each whole under its key and under all variants of the key that its doubtful signs allow. Within a
// key, wholes are ordered by aspect ratio. A part is looked up under one key, among the wholes of about its own aspect
// ratio.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/device/cpu/executor.h"
#include "src/kernels/parts/parts.h"
#include "src/memory/budget.h"

namespace millrace::dedupe {

// Row of the picture that has the part, and row of the whole in the table.
struct WholeMatch {
  std::uint32_t part = 0, whole = 0;
  friend bool operator==(const WholeMatch&, const WholeMatch&) = default;
  friend auto operator<=>(const WholeMatch&, const WholeMatch&) = default;  // NOLINT(modernize-use-nullptr)
};

class WholeTable {
 public:
  // Rows are indices into `codes`. Codes that no picture can have, as in an edited catalog, are left out.
  WholeTable(std::span<const parts::Codes> codes, const Executor& executor);
  // Number of bytes of a table with this many rows.
  static std::uint64_t memory(std::size_t rows);

  // Returns every matching pair once, sorted.
  std::vector<WholeMatch> meetings(std::span<const parts::Codes> codes, const Executor& executor) const;

 private:
  struct Scratch;
  void look_up(const parts::Codes& codes, std::uint32_t row, Scratch& scratch, std::vector<WholeMatch>& out) const;

  std::vector<std::uint64_t> there_;   // bitmap of the keys that occur
  std::vector<std::uint32_t> begins_;  // first entry of each cell in codes_ and rows_; the last element is their size
  std::unique_ptr<parts::Code[]> codes_;  // followed by kReadBeyond padding codes
  std::unique_ptr<std::uint32_t[]> rows_;
  std::vector<std::int8_t> sides_;  // aspect ratio of each row, as in parts::Codes
};

}  // namespace millrace::dedupe
