// Identifier of a Live Photo. In pictures it is tag 17 of Apple's maker note. In videos it is in QuickTime's metadata
// list: numbered keys, and values by the number of their key.
#include "src/io/image/live_photo.h"

#include <algorithm>
#include <string_view>

#include "src/io/file/file_reader.h"
#include "src/io/image/metadata/box_reader.h"
#include "src/io/image/metadata/metadata_locations.h"

namespace millrace {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t kMaxReadBytes = 4 << 20;
constexpr std::uint64_t kMaxIdentifierBytes = 64;

std::string text_to_first_zero(std::span<const std::uint8_t> bytes) {
  std::string out(as_text(bytes));
  out.resize(std::min(out.size(), out.find('\0')));
  return out;
}

std::string find_note_identifier(ByteRange maker_note) {
  constexpr std::uint64_t kFields = 14, kField = 12, kMaxFields = 200;
  constexpr std::uint16_t kIdentifier = 17, kText = 2;
  if (!maker_note.starts_with("Apple iOS\0"sv) || !maker_note.starts_with("MM", kFields - 2)) return "";
  const std::uint64_t fields = std::min(maker_note.number(kFields, 2), kMaxFields);
  for (std::uint64_t f = 0; f < fields; ++f) {
    const std::uint64_t at = kFields + 2 + kField * f, size = maker_note.number(at + 4, 4);
    if (maker_note.number(at, 2) != kIdentifier || maker_note.number(at + 2, 2) != kText) continue;
    if (size <= 4 || size > kMaxIdentifierBytes) return "";
    return text_to_first_zero(maker_note.read(maker_note.number(at + 8, 4), size));
  }
  return "";
}

// Returns the number of the key, counted from 1; 0 where there is none.
std::uint64_t find_identifier_key(ByteRange keys) {
  constexpr std::string_view kName = "com.apple.quicktime.content.identifier";
  std::uint64_t number = 0, found = 0;
  for_each_box(keys.part(8), [&](const std::string&, ByteRange key) {
    ++number;
    if (found == 0 && key.size() == kName.size() && key.starts_with(kName)) found = number;
  });
  return found;
}

std::string find_identifier_value(ByteRange values, std::uint64_t key) {
  constexpr std::uint64_t kHead = 8;  // the value's type and country
  std::string out;
  for_each_box(values, [&](const std::string& number, ByteRange value) {
    const std::string_view digits = number;
    if (number_of({reinterpret_cast<const std::uint8_t*>(digits.data()), digits.size()}, ByteOrder::big) != key) return;
    for_each_box(value, [&](const std::string& type, ByteRange data) {
      if (type == "data" && data.size() > kHead && data.size() <= kHead + kMaxIdentifierBytes)
        out = text_to_first_zero(data.read(kHead, data.size() - kHead));
    });
  });
  return out;
}

}  // namespace

std::string read_picture_live_photo_id(const std::string& path) {
  const auto file = FileReader::open(path, FileReader::Hashing::off);
  if (!file) return "";
  ByteSource source((*file)->descriptor(), (*file)->size(), kMaxReadBytes);
  for (const ExifBlock& part : find_metadata(ByteRange(source), path).exif) {
    constexpr std::uint16_t kMakerNote = 0x927C;
    std::string found = find_note_identifier(TiffFields(part.block, part.first).value(TiffDirectory::exif, kMakerNote));
    if (!found.empty()) return found;
  }
  return "";
}

std::string read_video_live_photo_id(const std::string& path) {
  const auto file = FileReader::open(path, FileReader::Hashing::off);
  if (!file) return "";
  ByteSource source((*file)->descriptor(), (*file)->size(), kMaxReadBytes);
  std::string out;
  for_each_box(ByteRange(source), [&](const std::string& movie, ByteRange boxes) {
    if (movie != "moov") return;
    for_each_box(boxes, [&](const std::string& type, ByteRange meta) {
      if (type != "meta") return;
      // ISO's boxes of this name begin with a version; QuickTime's do not.
      if (meta.number(0, 4) == 0) meta = meta.part(4);
      std::uint64_t key = 0;
      for_each_box(meta, [&](const std::string& list, ByteRange keys) {
        if (list == "keys") key = find_identifier_key(keys);
      });
      for_each_box(meta, [&](const std::string& list, ByteRange values) {
        if (list == "ilst" && key != 0 && out.empty()) out = find_identifier_value(values, key);
      });
    });
  });
  return out;
}

}  // namespace millrace
