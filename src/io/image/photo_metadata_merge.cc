#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/base/text.h"
#include "src/io/image/photo_metadata_fields.h"

namespace millrace {
namespace {

constexpr std::size_t kMaxListWords = 1000;

// Converts bytes of an unknown encoding: valid UTF-8 is kept, anything else is read as Latin-1.
std::string convert_to_utf8(std::string_view bytes) {
  if (is_utf8(bytes)) return std::string(bytes);
  std::string out;
  for (const char c : bytes) out += c == '\0' ? std::string(1, c) : encode_utf8(static_cast<unsigned char>(c));
  return out;
}

bool near(const PhotoMetadata::GeoPoint& a, const PhotoMetadata::GeoPoint& b) {
  constexpr double kDegrees = 1e-4;  // some ten metres: programs round
  return std::fabs(a.latitude - b.latitude) < kDegrees && std::fabs(a.longitude - b.longitude) < kDegrees;
}

}  // namespace

std::string clean_text(std::string_view bytes, std::size_t max_bytes, bool& cut) {
  std::string text = convert_to_utf8(bytes);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto code = static_cast<unsigned char>(text[i]);
    if (code < 0x20 || code == 0x7F) text[i] = ' ';
    // Terminals interpret U+0080 to U+009F as they do an escape character.
    if (code == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0) text.replace(i, 2, " ");
  }
  for (const char* non_character : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (std::size_t at = text.find(non_character); at != std::string::npos; at = text.find(non_character, at))
      text.erase(at, 3);
  }
  std::string_view kept = trim(text);
  if (kept.size() > max_bytes) {
    cut = true;
    std::size_t end = max_bytes;
    while (end > 0 && (static_cast<unsigned char>(kept[end]) & 0xC0) == 0x80) --end;
    kept = trim(kept.substr(0, end));
  }
  return std::string(kept);
}

void add_word(std::string_view bytes, std::vector<std::string>& words, bool& cut) {
  std::string word = clean_text(bytes, kMaxWordBytes, cut);
  if (word.empty() || (cut && words.size() >= kMaxListWords)) return;
  const std::string lower = lower_ascii(word);
  if (std::any_of(words.begin(), words.end(), [&](const std::string& w) { return lower_ascii(w) == lower; })) return;
  if (words.size() < kMaxListWords) {
    words.push_back(std::move(word));
  } else {
    cut = true;
  }
}

bool PhotoMetadata::is_empty() const {
  return rating == 0 && !place && taken.empty() &&
         std::all_of(kMetadataTextFields.begin(), kMetadataTextFields.end(),
                     [&](const MetadataTextField& t) { return (this->*t.metadata).empty(); }) &&
         std::all_of(kMetadataListFields.begin(), kMetadataListFields.end(),
                     [&](const MetadataListField& l) { return (this->*l.metadata).empty(); });
}

void PhotoMetadata::add(const PhotoMetadata& other) {
  cut = cut || other.cut;
  favourite = favourite || other.favourite;
  developed = developed || other.developed;
  if (unparsed.empty()) unparsed = other.unparsed;
  if (rating == 0) rating = other.rating;
  for (const MetadataListField& list : kMetadataListFields) {
    for (const std::string& word : other.*list.metadata) add_word(word, this->*list.metadata, cut);
  }
  for (const MetadataTextField& text : kMetadataTextFields) {
    if ((this->*text.metadata).empty()) this->*text.metadata = other.*text.metadata;
  }
  if (!place) place = other.place;
  if (taken.empty()) taken = other.taken;
}

MissingMetadata find_missing_metadata(const PhotoMetadata& of, const PhotoMetadata& from) {
  MissingMetadata out;
  out.metadata.cut = from.cut;
  const auto either = [&](bool own, bool theirs, bool equal, const auto& take, const std::string& words) {
    if (!theirs || equal) return;
    if (own) {
      out.differences.push_back(words);
    } else {
      take();
    }
  };
  either(
      of.rating != 0, from.rating != 0, of.rating == from.rating, [&] { out.metadata.rating = from.rating; },
      fmt::format("rating {}, not {}", of.rating, from.rating));
  for (const MetadataTextField& text : kMetadataTextFields) {
    const std::string &own = of.*text.metadata, &theirs = from.*text.metadata;
    either(
        !own.empty(), !theirs.empty(), own == theirs, [&] { out.metadata.*text.metadata = theirs; },
        text.max_bytes > kMaxWordBytes ? fmt::format("another {}", text.name)
                                       : fmt::format("{} \"{}\", not \"{}\"", text.name, own, theirs));
  }
  either(
      of.place.has_value(), from.place.has_value(), of.place && from.place && near(*of.place, *from.place),
      [&] { out.metadata.place = from.place; }, "another GPS position");
  // Both may give the same moment with different precision.
  const std::size_t common_length = std::min({of.taken.size(), from.taken.size(), std::size_t{19}});
  either(
      !of.taken.empty(), !from.taken.empty(),
      common_length > 0 && of.taken.substr(0, common_length) == from.taken.substr(0, common_length),
      [&] { out.metadata.taken = from.taken; }, fmt::format("taken {}, not {}", of.taken, from.taken));
  for (const MetadataListField& list : kMetadataListFields) {
    std::vector<std::string> all = of.*list.metadata;
    const std::size_t own = all.size();
    for (const std::string& word : from.*list.metadata) add_word(word, all, out.metadata.cut);
    (out.metadata.*list.metadata).assign(all.begin() + static_cast<std::ptrdiff_t>(own), all.end());
  }
  return out;
}

std::string summarize_metadata(const PhotoMetadata& metadata) {
  std::vector<std::string> parts;
  if (metadata.rating != 0) parts.push_back(fmt::format("rating {}", metadata.rating));
  for (const MetadataTextField& text : kMetadataTextFields) {
    const std::string& words = metadata.*text.metadata;
    if (!words.empty())
      parts.push_back(text.max_bytes > kMaxWordBytes ? text.name : fmt::format("{} \"{}\"", text.name, words));
  }
  for (const MetadataListField& list : kMetadataListFields) {
    constexpr std::size_t kShown = 5;
    const std::vector<std::string>& words = metadata.*list.metadata;
    if (words.empty()) continue;
    const auto end = words.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, words.size()));
    std::string text = fmt::format("{} {}", list.name, fmt::join(words.begin(), end, ", "));
    if (words.size() > kShown) text += fmt::format(" and {} more", words.size() - kShown);
    parts.push_back(std::move(text));
  }
  if (metadata.place) parts.emplace_back("GPS position");
  if (!metadata.taken.empty()) parts.push_back("taken " + metadata.taken);
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace millrace
