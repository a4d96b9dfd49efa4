#include "src/io/image/metadata/appended_data.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace millrace {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t kScanBlockBytes = 64 << 10;
// Bytes of padding between a picture and an appended video, at most.
constexpr std::uint64_t kMaxVideoPadding = 64 << 10;
// Notes that cameras append to a picture are shorter than this.
constexpr std::uint64_t kMaxNoteBytes = 64 << 10;

struct MpfPicture {
  std::uint64_t at = 0, size = 0;
};

// An MPF index: its pictures except the first and the previews, and the end of its last entry (0: the index is empty).
struct MpfIndex {
  std::vector<MpfPicture> pictures;
  std::uint64_t end = 0;
};

MpfIndex read_mpf_index(ByteRange file, const JpegHead& head) {
  constexpr std::uint64_t kMaxPictures = 100, kEntry = 16;
  constexpr std::uint16_t kEntries = 0xB002;
  MpfIndex out;
  const bool little = head.mpf.starts_with("II*\0"sv);
  if (!little && !head.mpf.starts_with("MM\0*"sv)) return out;
  const ByteOrder order = little ? ByteOrder::little : ByteOrder::big;
  const std::uint64_t fields_at = head.mpf.number(4, 4, order), fields = head.mpf.number(fields_at, 2, order);
  for (std::uint64_t f = 0; f < fields; ++f) {
    const std::uint64_t at = fields_at + 2 + 12 * f;
    if (head.mpf.read(at, 12).empty()) break;
    if (head.mpf.number(at, 2, order) != kEntries) continue;
    const std::uint64_t count = std::min(head.mpf.number(at + 4, 4, order) / kEntry, kMaxPictures);
    const std::uint64_t entries_at = head.mpf.number(at + 8, 4, order);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t entry = entries_at + kEntry * i;
      if (head.mpf.read(entry, kEntry).empty()) break;
      const std::uint64_t kind = head.mpf.number(entry, 4, order) & 0xFFFFFF;
      const std::uint64_t size = head.mpf.number(entry + 4, 4, order), offset = head.mpf.number(entry + 8, 4, order);
      const bool first = offset == 0;
      const MpfPicture piece{first ? 0 : head.mpf.offset() + offset, size};
      if (piece.at > file.size() || size > file.size() - piece.at) continue;
      out.end = std::max(out.end, piece.at + size);
      // Previews: classes 1 and 2 of "large thumbnail", and those that later editions added.
      const bool preview = kind >= 0x010001 && kind <= 0x01000F;
      if (!first && !preview && file.starts_with("\xFF\xD8\xFF"sv, piece.at)) out.pictures.push_back(piece);
    }
    break;  // there is only one list
  }
  return out;
}

// Returns the end of the picture whose scan begins at `at`; std::nullopt where it has none.
std::optional<std::uint64_t> find_scan_end(ByteRange file, std::uint64_t at) {
  constexpr std::uint8_t kEnd = 0xD9;
  while (at < file.size()) {
    const auto bytes = file.read(at, std::min(kScanBlockBytes, file.size() - at));
    if (bytes.size() < 2) return std::nullopt;
    std::uint64_t next = bytes.size() - 1;  // a marker may begin with the last byte
    for (std::size_t k = 0; k + 1 < bytes.size(); ++k) {
      const void* const found = std::memchr(bytes.data() + k, 0xFF, bytes.size() - 1 - k);
      if (found == nullptr) break;
      k = static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - bytes.data());
      const std::uint8_t marker = bytes[k + 1];
      if (marker == kEnd) return at + k + 2;
      // An escaped 0xFF, a restart marker and fill bytes do not end a scan.
      if (marker == 0 || marker == 0xFF || (marker >= 0xD0 && marker <= 0xD7)) continue;
      const std::uint64_t size = file.number(at + k + 2, 2);
      if (size < 2) return std::nullopt;
      next = k + 2 + size;
      break;
    }
    at += next;
  }
  return std::nullopt;
}

bool matches_at(std::string_view head, std::size_t at, std::string_view what) {
  return head.size() >= at && head.substr(at).starts_with(what);
}
bool is_sound(std::string_view head) {
  return matches_at(head, 4, "ftypM4A") || matches_at(head, 0, "#!AMR") || matches_at(head, 0, "ID3") ||
         matches_at(head, 0, "OggS") || matches_at(head, 0, "fLaC") || matches_at(head, 0, "\xFF\xF1"sv) ||
         (matches_at(head, 0, "RIFF") && matches_at(head, 8, "WAVE"));
}
bool is_video(std::string_view head) { return matches_at(head, 4, "ftyp") && !is_sound(head); }

// Returns the boxes that follow each other from `at` on; the first bytes that are no box end them.
ByteRange find_box_range(ByteRange bytes, std::uint64_t at) {
  constexpr int kMaxBoxes = 100'000;
  std::uint64_t end = at;
  for (int count = 0; count < kMaxBoxes && end < bytes.size(); ++count) {
    std::uint64_t size = bytes.number(end, 4);
    if (size == 1) size = bytes.number(end + 8, 8);
    if (size == 0) size = bytes.size() - end;
    if (size < 8 || size > bytes.size() - end) break;
    end += size;
  }
  return bytes.part(at, end - at);
}

// Samsung's list at the end of a file: its videos and sounds, and the offset of its first entry of any kind.
struct SamsungList {
  std::vector<AppendedData> held;
  std::uint64_t begin = 0;
};

std::optional<SamsungList> read_samsung_list(ByteRange file) {
  constexpr std::uint64_t kMaxEntries = 100, kEntry = 12;
  if (file.size() < 8 || !file.starts_with("SEFT"sv, file.size() - 4)) return std::nullopt;
  const std::uint64_t size = file.number(file.size() - 8, 4, ByteOrder::little);
  if (size > file.size() - 8 || size < kEntry) return std::nullopt;
  const std::uint64_t list_at = file.size() - 8 - size;
  if (!file.starts_with("SEFH"sv, list_at)) return std::nullopt;
  const std::uint64_t count = std::min(file.number(list_at + 8, 4, ByteOrder::little), kMaxEntries);
  SamsungList out{{}, list_at};
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t entry = list_at + kEntry * (i + 1);
    const std::uint64_t back = file.number(entry + 4, 4, ByteOrder::little),
                        bytes = file.number(entry + 8, 4, ByteOrder::little);
    if (file.read(entry, kEntry).empty() || back > list_at || bytes > back || bytes < 8) continue;
    out.begin = std::min(out.begin, list_at - back);
    // An entry holds two bytes, its kind, the length of its name, its name and its contents.
    const std::uint64_t named = file.number(list_at - back + 4, 4, ByteOrder::little);
    if (named > bytes - 8) continue;
    const ByteRange held = file.part(list_at - back + 8 + named, bytes - 8 - named);
    const std::string_view head = as_text(held.first(16));
    if (is_video(head)) out.held.push_back({ExtraDataKind::video, held});
    if (is_sound(head)) out.held.push_back({ExtraDataKind::sound, held});
  }
  return out;
}

// Classifies bytes that lie behind the last picture and are in no list; std::nullopt for padding and short notes.
std::optional<AppendedData> classify_trailing_bytes(ByteRange bytes) {
  // The text is a copy, because the next read overwrites the bytes.
  const std::string head(as_text(bytes.first(kMaxVideoPadding)));
  const std::size_t video = head.find("ftyp");
  if (video != std::string_view::npos && video >= 4) {
    const ByteRange boxes = find_box_range(bytes, video - 4);
    const bool sound = matches_at(head, video, "ftypM4A");
    if (!boxes.empty()) return AppendedData{sound ? ExtraDataKind::sound : ExtraDataKind::video, boxes};
  }
  const std::size_t begin = head.find_first_not_of("\0\xFF"sv);
  if (begin == std::string_view::npos && bytes.size() <= kMaxVideoPadding) return std::nullopt;
  const std::size_t at = begin == std::string_view::npos ? 0 : begin;
  if (head.starts_with("\xFF\xD8\xFF"sv)) return AppendedData{ExtraDataKind::picture, bytes};
  if (is_sound(std::string_view(head).substr(at))) return AppendedData{ExtraDataKind::sound, bytes.part(at)};
  if (bytes.size() <= kMaxNoteBytes) return std::nullopt;
  return AppendedData{ExtraDataKind::unknown, bytes};
}

}  // namespace

std::vector<AppendedData> find_appended_data(ByteRange file, const JpegHead& head) {
  const MpfIndex listed = read_mpf_index(file, head);
  std::vector<AppendedData> out;
  for (const MpfPicture& piece : listed.pictures)
    out.push_back({ExtraDataKind::picture, file.part(piece.at, piece.size)});
  const auto samsung = read_samsung_list(file);
  if (samsung) out.insert(out.end(), samsung->held.begin(), samsung->held.end());
  const std::uint64_t until = samsung ? samsung->begin : file.size();
  const bool ends_as_it_should = samsung || (file.size() >= 2 && file.starts_with("\xFF\xD9"sv, file.size() - 2));
  if (listed.end == 0 && ends_as_it_should && !head.is_motion_photo) return out;
  const std::optional<std::uint64_t> end = listed.end != 0 ? listed.end : find_scan_end(file, head.picture_at);
  if (!end || *end >= until) return out;
  if (const auto more = classify_trailing_bytes(file.part(*end, until - *end))) out.push_back(*more);
  return out;
}

}  // namespace millrace
