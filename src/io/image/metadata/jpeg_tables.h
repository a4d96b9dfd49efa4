// Input: the segments of a JPEG that define its quantisation tables and the tables that its components use.
// Output: the quality at which the Independent JPEG Group's encoder makes these tables, and their hash.
// Never: guesses. Tables that match no quality exactly have none.
//
// ITU-T T.81 annex B.2.4.1 describes the segments. The tables are its K.1 and K.2, scaled as by libjpeg's
// jpeg_set_quality().
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace millrace {

class JpegTables {
 public:
  // These two read a DQT segment and a frame header, without their lengths. A table that is defined again replaces the
  // first.
  void add_quantization_tables(std::span<const std::uint8_t> segment);
  void frame(std::span<const std::uint8_t> segment);

  bool any() const { return hash() != 0; }
  // Highest quality, 1 to 100, that makes the tables of all components; 0 when none does.
  std::uint8_t quality() const;
  // Quantisation steps of luma, in rows from the top; nothing where luma's table is not defined.
  std::optional<std::array<std::uint16_t, 64>> luma() const;
  // Hash of the defined tables and their numbers; 0 when none is defined.
  std::uint64_t hash() const;

 private:
  using Table = std::array<std::uint16_t, 64>;  // in zigzag order, as stored

  bool matches_quality(int quality) const;

  std::array<Table, 4> tables_{};
  std::array<bool, 4> defined_{};
  std::vector<std::uint8_t> used_;  // table number of each component, luma first
};

}  // namespace millrace
