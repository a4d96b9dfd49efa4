// Input: codes of whole pictures, and of parts of others.
// Output: which part may be which whole (kernels/parts/parts.h: meet()).
// Never: looks at pixels.
//
// A whole stands under its key and under each that its doubtful signs allow, and there by the proportion of its sides:
// a part is looked up under one key, among those of about its own proportion.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/device/cpu/executor.h"
#include "src/kernels/parts/parts.h"
#include "src/memory/budget.h"

namespace millrace::dedupe {

// A row of whoever has the part, and one of the table.
struct WholeMatch {
  std::uint32_t part = 0, whole = 0;
  friend bool operator==(const WholeMatch&, const WholeMatch&) = default;
  friend auto operator<=>(const WholeMatch&, const WholeMatch&) = default;  // NOLINT(modernize-use-nullptr)
};

class WholeTable {
 public:
  // Rows are places in `codes`. Of codes that no picture has, as an edited catalogue may hold them, there is no row.
  WholeTable(std::span<const parts::Codes> codes, const Executor& executor);
  // Bytes that a table of so many rows takes.
  static std::uint64_t memory(std::size_t rows);

  // Each two that meet, once, sorted.
  std::vector<WholeMatch> meetings(std::span<const parts::Codes> codes, const Executor& executor) const;

 private:
  struct Scratch;
  void look_up(const parts::Codes& codes, std::uint32_t row, Scratch& scratch, std::vector<WholeMatch>& out) const;

  std::vector<std::uint64_t> there_;      // a bit a key
  std::vector<std::uint32_t> begins_;     // of each cell in what follows; at last its size
  std::unique_ptr<parts::Code[]> codes_;  // and kReadBeyond more
  std::unique_ptr<std::uint32_t[]> rows_;
  std::vector<std::int8_t> sides_;  // of each row
};

}  // namespace millrace::dedupe
