// Input: codes of whole pictures, and of crops of other pictures.
// Output: candidate pairs of a crop and a whole (kernels/crops/crops.h: can_match()).
// Never: reads pixels.
//
// The table lists each whole under its key and under all variants of the key that its doubtful signs allow. Within a
// key, wholes are ordered by aspect ratio. A crop is searched under one key, among the wholes of about its own aspect
// ratio.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/device/cpu/executor.h"
#include "src/kernels/crops/crops.h"
#include "src/memory/budget.h"

namespace millrace::dedupe {

// Row of the picture that has the crop, and row of the whole in the table.
struct CropWholePair {
  std::uint32_t part = 0, whole = 0;
  friend bool operator==(const CropWholePair&, const CropWholePair&) = default;
  friend auto operator<=>(const CropWholePair&, const CropWholePair&) = default;  // NOLINT(modernize-use-nullptr)
};

class WholePictureTable {
 public:
  // Rows are indices into `codes`. Codes that no picture can have, as in an edited catalog, are left out.
  WholePictureTable(std::span<const crops::CropCodes> codes, const Executor& executor);
  // Number of bytes of a table with this many rows.
  static std::uint64_t memory(std::size_t rows);

  // Returns every matching pair once, sorted.
  std::vector<CropWholePair> find_pairs(std::span<const crops::CropCodes> codes, const Executor& executor) const;

 private:
  struct Scratch;
  void find_row_pairs(const crops::CropCodes& codes, std::uint32_t row, Scratch& scratch,
                      std::vector<CropWholePair>& out) const;

  std::vector<std::uint64_t> occupied_keys_;  // bitmap of the keys that occur
  std::vector<std::uint32_t> begins_;  // first entry of each cell in codes_ and rows_; the last element is their size
  std::unique_ptr<crops::CropCode[]> codes_;  // followed by kReadBeyond padding codes
  std::unique_ptr<std::uint32_t[]> rows_;
  std::vector<std::int8_t> sides_;  // aspect ratio of each row, as in crops::Codes
};

}  // namespace millrace::dedupe
