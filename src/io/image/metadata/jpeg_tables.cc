#include "src/io/image/metadata/jpeg_tables.h"

#include <algorithm>

#include "src/io/file/file_reader.h"
#include "src/io/image/metadata/byte_range.h"

namespace millrace {
namespace {

// Standard quantisation tables in rows from the top, as the standard prints them.
constexpr std::array<std::uint8_t, 64> kLuma = {16, 11, 10, 16, 24,  40,  51,  61,   //
                                                12, 12, 14, 19, 26,  58,  60,  55,   //
                                                14, 13, 16, 24, 40,  57,  69,  56,   //
                                                14, 17, 22, 29, 51,  87,  80,  62,   //
                                                18, 22, 37, 56, 68,  109, 103, 77,   //
                                                24, 35, 55, 64, 81,  104, 113, 92,   //
                                                49, 64, 78, 87, 103, 121, 120, 101,  //
                                                72, 92, 95, 98, 112, 100, 103, 99};
constexpr std::array<std::uint8_t, 64> kChroma = {17, 18, 24, 47, 99, 99, 99, 99,  //
                                                  18, 21, 26, 66, 99, 99, 99, 99,  //
                                                  24, 26, 56, 99, 99, 99, 99, 99,  //
                                                  47, 66, 99, 99, 99, 99, 99, 99,  //
                                                  99, 99, 99, 99, 99, 99, 99, 99,  //
                                                  99, 99, 99, 99, 99, 99, 99, 99,  //
                                                  99, 99, 99, 99, 99, 99, 99, 99,  //
                                                  99, 99, 99, 99, 99, 99, 99, 99};

// Index in rows of each element in the stored order.
constexpr std::array<std::uint8_t, 64> kZigzag = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                                  12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                                  35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                                  58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

// libjpeg limits the values to 255 for baseline files, as most programs request, else to 32767.
bool is_scaled(const std::array<std::uint16_t, 64>& table, const std::array<std::uint8_t, 64>& standard, int quality) {
  const int scale = quality < 50 ? 5000 / quality : 200 - 2 * quality;
  for (const int most : {255, 32767}) {
    bool same = true;
    for (std::size_t i = 0; i < table.size() && same; ++i) {
      same = table[i] == std::clamp((standard[kZigzag[i]] * scale + 50) / 100, 1, most);
    }
    if (same) return true;
  }
  return false;
}

}  // namespace

void JpegTables::add_quantization_tables(std::span<const std::uint8_t> segment) {
  while (!segment.empty()) {
    const std::size_t bytes = segment[0] >> 4 == 0 ? 1 : 2, number = segment[0] & 15;
    Table table;
    if (number >= tables_.size() || segment.size() < 1 + bytes * table.size()) return;
    for (std::size_t i = 0; i < table.size(); ++i) {
      table[i] = static_cast<std::uint16_t>(number_of(segment.subspan(1 + i * bytes, bytes), ByteOrder::big));
    }
    tables_[number] = table;
    defined_[number] = true;
    segment = segment.subspan(1 + bytes * table.size());
  }
}

void JpegTables::frame(std::span<const std::uint8_t> segment) {
  // The segment holds depth, height, width and the number of components. Each component has its identifier, its
  // sampling factors and its table.
  constexpr std::size_t kCount = 5, kHead = 6, kEach = 3;
  used_.clear();
  for (std::size_t at = kHead; at + kEach <= segment.size() && used_.size() < segment[kCount]; at += kEach) {
    used_.push_back(segment[at + 2]);
  }
}

bool JpegTables::matches_quality(int quality) const {
  // Components that use the first one's table are gray, or share one table; other tables are those of chroma.
  const std::size_t luma = used_.empty() ? 0 : used_[0];
  if (luma >= tables_.size() || !defined_[luma] || !is_scaled(tables_[luma], kLuma, quality)) return false;
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const bool used = used_.empty() ? defined_[i] : std::find(used_.begin(), used_.end(), i) != used_.end();
    if (!used || i == luma) continue;
    if (!defined_[i] || !is_scaled(tables_[i], kChroma, quality)) return false;
  }
  return true;
}

std::uint8_t JpegTables::quality() const {
  int quality = 100;
  while (quality > 0 && !matches_quality(quality)) --quality;
  return static_cast<std::uint8_t>(quality);
}

std::optional<std::array<std::uint16_t, 64>> JpegTables::luma() const {
  const std::size_t number = used_.empty() ? 0 : used_[0];
  if (number >= tables_.size() || !defined_[number]) return std::nullopt;
  Table out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[kZigzag[i]] = tables_[number][i];
  return out;
}

std::uint64_t JpegTables::hash() const {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    if (!defined_[i]) continue;
    bytes.push_back(static_cast<std::uint8_t>(i));
    for (const std::uint16_t value : tables_[i]) {
      bytes.push_back(static_cast<std::uint8_t>(value >> 8));
      bytes.push_back(static_cast<std::uint8_t>(value & 255));
    }
  }
  return bytes.empty() ? 0 : std::max<std::uint64_t>(short_hash(bytes), 1);
}

}  // namespace millrace
