// Input: a TIFF structure: the EXIF block of a picture, a TIFF file, or a RAW file that is built like one.
// Output: the fields of its directories by tag, with their values.
// Never: fails. A field whose type is unknown or whose value is incomplete is absent.
//
// Standards: TIFF 6.0, with BigTIFF's wide offsets; EXIF 3.0 (CIPA DC-008) for the directories. There are at most five
// directories and each is read once, so that circular offsets do no harm.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/io/image/metadata/byte_range.h"

namespace millrace {

enum class TiffDirectory : std::uint8_t { main, thumbnail, exif, gps, interop };

// A fraction as written; its denominator is 0 where the field is absent.
struct Rational {
  std::int64_t numerator = 0, denominator = 0;
  bool is_known() const { return denominator != 0; }
  bool operator==(const Rational&) const = default;
};

class TiffFields {
 public:
  // Limit on the fields of one directory; a camera writes less than a hundred.
  static constexpr std::uint64_t kMaxFields = 4096;
  static constexpr std::uint64_t kMaxTextBytes = 1024;

  // Reads a structure that begins with the byte order, or with "Exif\0\0" before it. `first` is the kind of its first
  // directory: CR3 files have one structure per directory. The bytes must outlive this object.
  explicit TiffFields(ByteRange structure, TiffDirectory first = TiffDirectory::main);

  // Returns a text as it is written, in any encoding, up to its first zero and trimmed.
  std::string text(TiffDirectory directory, std::uint16_t tag, std::uint64_t max_bytes = kMaxTextBytes) const;
  // Returns the first of a field's unsigned whole numbers.
  std::optional<std::uint64_t> number(TiffDirectory directory, std::uint16_t tag) const;
  Rational rational(TiffDirectory directory, std::uint16_t tag, std::uint64_t index = 0) const;
  // Returns the bytes of a value of any type.
  ByteRange value(TiffDirectory directory, std::uint16_t tag) const;

  // Number of different fields, without those that only hold the offset of other data.
  int count_distinct_fields() const;

 private:
  struct Field {
    std::uint16_t tag = 0, type = 0;
    std::uint64_t count = 0, at = 0;  // at: offset of its value
  };

  std::uint64_t load(TiffDirectory directory, std::uint64_t at);
  const Field* find(TiffDirectory directory, std::uint16_t tag) const;

  ByteRange in_;
  ByteOrder order_ = ByteOrder::big;
  bool wide_ = false;
  std::array<std::vector<Field>, 5> directories_;
};

}  // namespace millrace
