// Input: the segments of a JPEG that hold its quantisation tables and say which of its components use them.
// Output: the quality at which the Independent JPEG Group's encoder would have made them, and their hash.
// Never: guesses: tables that are not exactly those have no quality.
//
// ITU-T T.81 annex B.2.4.1; the tables are K.1 and K.2 of the same, scaled as libjpeg's jpeg_set_quality() does it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace millrace {

class JpegTables {
 public:
  // A DQT segment, and the frame's, without their lengths. A table that is defined again replaces the first.
  void define(std::span<const std::uint8_t> segment);
  void frame(std::span<const std::uint8_t> segment);

  bool any() const { return hash() != 0; }
  // 1 to 100, the highest of those that make the tables of all components; 0 when none does.
  std::uint8_t quality() const;
  // The steps of the luma's coefficients, in rows from the top; nothing where its table is not there.
  std::optional<std::array<std::uint16_t, 64>> luma() const;
  // Of the tables that are defined, with their numbers; 0 when none is.
  std::uint64_t hash() const;

 private:
  using Table = std::array<std::uint16_t, 64>;  // in zigzag order, as it is stored

  bool made_at(int quality) const;

  std::array<Table, 4> tables_{};
  std::array<bool, 4> defined_{};
  std::vector<std::uint8_t> used_;  // each component's table, luma first
};

}  // namespace millrace
