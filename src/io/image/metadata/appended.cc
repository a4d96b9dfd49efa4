#include "src/io/image/metadata/appended.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace millrace {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t kAtOnce = 64 << 10;
// Bytes of padding between a picture and an appended video, at most.
constexpr std::uint64_t kFilmWithin = 64 << 10;
// Notes that cameras append to a picture are shorter than this.
constexpr std::uint64_t kNote = 64 << 10;

struct Piece {
  std::uint64_t at = 0, size = 0;
};

// An MPF index: its pictures except the first and the previews, and the end of its last entry (0: the index is empty).
struct Listed {
  std::vector<Piece> pictures;
  std::uint64_t end = 0;
};

Listed listed_by_mpf(ByteRange file, const JpegHead& head) {
  constexpr std::uint64_t kMostPictures = 100, kEntry = 16;
  constexpr std::uint16_t kEntries = 0xB002;
  Listed out;
  const bool little = head.mpf.starts_with("II*\0"sv);
  if (!little && !head.mpf.starts_with("MM\0*"sv)) return out;
  const ByteOrder order = little ? ByteOrder::little : ByteOrder::big;
  const std::uint64_t fields_at = head.mpf.number(4, 4, order), fields = head.mpf.number(fields_at, 2, order);
  for (std::uint64_t f = 0; f < fields; ++f) {
    const std::uint64_t at = fields_at + 2 + 12 * f;
    if (head.mpf.read(at, 12).empty()) break;
    if (head.mpf.number(at, 2, order) != kEntries) continue;
    const std::uint64_t count = std::min(head.mpf.number(at + 4, 4, order) / kEntry, kMostPictures);
    const std::uint64_t entries_at = head.mpf.number(at + 8, 4, order);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t entry = entries_at + kEntry * i;
      if (head.mpf.read(entry, kEntry).empty()) break;
      const std::uint64_t kind = head.mpf.number(entry, 4, order) & 0xFFFFFF;
      const std::uint64_t size = head.mpf.number(entry + 4, 4, order), offset = head.mpf.number(entry + 8, 4, order);
      const bool first = offset == 0;
      const Piece piece{first ? 0 : head.mpf.offset() + offset, size};
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
std::optional<std::uint64_t> end_of_picture(ByteRange file, std::uint64_t at) {
  constexpr std::uint8_t kEnd = 0xD9;
  while (at < file.size()) {
    const auto bytes = file.read(at, std::min(kAtOnce, file.size() - at));
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

bool says(std::string_view head, std::size_t at, std::string_view what) {
  return head.size() >= at && head.substr(at).starts_with(what);
}
bool is_sound(std::string_view head) {
  return says(head, 4, "ftypM4A") || says(head, 0, "#!AMR") || says(head, 0, "ID3") || says(head, 0, "OggS") ||
         says(head, 0, "fLaC") || says(head, 0, "\xFF\xF1"sv) || (says(head, 0, "RIFF") && says(head, 8, "WAVE"));
}
bool is_film(std::string_view head) { return says(head, 4, "ftyp") && !is_sound(head); }

// Returns the boxes that follow each other from `at` on; the first bytes that are no box end them.
ByteRange boxes_from(ByteRange bytes, std::uint64_t at) {
  constexpr int kMostBoxes = 100'000;
  std::uint64_t end = at;
  for (int count = 0; count < kMostBoxes && end < bytes.size(); ++count) {
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
  std::vector<Appended> held;
  std::uint64_t begin = 0;
};

std::optional<SamsungList> listed_by_samsung(ByteRange file) {
  constexpr std::uint64_t kMostEntries = 100, kEntry = 12;
  if (file.size() < 8 || !file.starts_with("SEFT"sv, file.size() - 4)) return std::nullopt;
  const std::uint64_t size = file.number(file.size() - 8, 4, ByteOrder::little);
  if (size > file.size() - 8 || size < kEntry) return std::nullopt;
  const std::uint64_t list_at = file.size() - 8 - size;
  if (!file.starts_with("SEFH"sv, list_at)) return std::nullopt;
  const std::uint64_t count = std::min(file.number(list_at + 8, 4, ByteOrder::little), kMostEntries);
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
    if (is_film(head)) out.held.push_back({HoldingKind::film, held});
    if (is_sound(head)) out.held.push_back({HoldingKind::sound, held});
  }
  return out;
}

// Classifies bytes that lie behind the last picture and are in no list; std::nullopt for padding and short notes.
std::optional<Appended> behind(ByteRange bytes) {
  // The text is a copy, because the next read overwrites the bytes.
  const std::string head(as_text(bytes.first(kFilmWithin)));
  const std::size_t film = head.find("ftyp");
  if (film != std::string_view::npos && film >= 4) {
    const ByteRange boxes = boxes_from(bytes, film - 4);
    const bool sound = says(head, film, "ftypM4A");
    if (!boxes.empty()) return Appended{sound ? HoldingKind::sound : HoldingKind::film, boxes};
  }
  const std::size_t begin = head.find_first_not_of("\0\xFF"sv);
  if (begin == std::string_view::npos && bytes.size() <= kFilmWithin) return std::nullopt;
  const std::size_t at = begin == std::string_view::npos ? 0 : begin;
  if (head.starts_with("\xFF\xD8\xFF"sv)) return Appended{HoldingKind::picture, bytes};
  if (is_sound(std::string_view(head).substr(at))) return Appended{HoldingKind::sound, bytes.part(at)};
  if (bytes.size() <= kNote) return std::nullopt;
  return Appended{HoldingKind::unknown, bytes};
}

}  // namespace

std::vector<Appended> appended_to_jpeg(ByteRange file, const JpegHead& head) {
  const Listed listed = listed_by_mpf(file, head);
  std::vector<Appended> out;
  for (const Piece& piece : listed.pictures) out.push_back({HoldingKind::picture, file.part(piece.at, piece.size)});
  const auto samsung = listed_by_samsung(file);
  if (samsung) out.insert(out.end(), samsung->held.begin(), samsung->held.end());
  const std::uint64_t until = samsung ? samsung->begin : file.size();
  const bool ends_as_it_should = samsung || (file.size() >= 2 && file.starts_with("\xFF\xD9"sv, file.size() - 2));
  if (listed.end == 0 && ends_as_it_should && !head.says_film) return out;
  const std::optional<std::uint64_t> end = listed.end != 0 ? listed.end : end_of_picture(file, head.picture_at);
  if (!end || *end >= until) return out;
  if (const auto more = behind(file.part(*end, until - *end))) out.push_back(*more);
  return out;
}

}  // namespace millrace
