// Input: a TIFF structure: the EXIF block of a picture, a TIFF file, or a RAW file that is built like one.
// Output: the fields of its directories by tag, with their values.
// Never: fails: a field whose type is unknown or whose value is not all there is absent.
//
// TIFF 6.0, with BigTIFF's wide offsets; EXIF 3.0 (CIPA DC-008) for the directories. Of the directories there are five
// at most and each is read once, so that offsets in a circle lead nowhere.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/io/image/metadata/byte_range.h"

namespace millrace {

enum class TiffDirectory : std::uint8_t { main, thumbnail, exif, gps, interop };

// As written; without a denominator where there is none.
struct Rational {
  std::int64_t numerator = 0, denominator = 0;
  bool known() const { return denominator != 0; }
  bool operator==(const Rational&) const = default;
};

class TiffFields {
 public:
  // Of one directory at most so many fields; a camera writes less than a hundred.
  static constexpr std::uint64_t kMostFields = 4096;
  static constexpr std::uint64_t kLongestText = 1024;

  // Begins with the byte order, or with "Exif\0\0" before it. `first` is what its first directory holds: CR3 files have
  // a structure for each. The bytes must outlive it.
  explicit TiffFields(ByteRange structure, TiffDirectory first = TiffDirectory::main);

  // Text as it is written, bytes of any encoding, up to its first zero and trimmed.
  std::string text(TiffDirectory directory, std::uint16_t tag, std::uint64_t longest = kLongestText) const;
  // The first of a field's unsigned whole numbers.
  std::optional<std::uint64_t> number(TiffDirectory directory, std::uint16_t tag) const;
  Rational rational(TiffDirectory directory, std::uint16_t tag, std::uint64_t index = 0) const;
  // The bytes of a value of any type.
  ByteRange value(TiffDirectory directory, std::uint16_t tag) const;

  // How many different fields there are, not counting those that only say where others are.
  int distinct() const;

 private:
  struct Field {
    std::uint16_t tag = 0, type = 0;
    std::uint64_t count = 0, at = 0;  // where its value is
  };

  std::uint64_t load(TiffDirectory directory, std::uint64_t at);
  const Field* find(TiffDirectory directory, std::uint16_t tag) const;

  ByteRange in_;
  ByteOrder order_ = ByteOrder::big;
  bool wide_ = false;
  std::array<std::vector<Field>, 5> directories_;
};

}  // namespace millrace
