#include "src/io/image/photo_metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "src/base/sizes.h"
#include "src/base/text.h"
#include "src/io/file/file_reader.h"
#include "src/io/image/metadata/editing_software.h"
#include "src/io/image/metadata/iptc.h"
#include "src/io/image/metadata/metadata_locations.h"
#include "src/io/image/photo_metadata_fields.h"
#include "src/io/image/provenance.h"
#include "src/io/image/sidecar.h"
#include "src/io/image/takeout.h"

namespace millrace {
namespace {

constexpr std::uint64_t kMaxWideMetadataBytes = 1 << 16;

// Converts "52,30.5N" or "52,30,30N"; nothing for any other text.
std::optional<double> parse_degrees(std::string_view text) {
  text = trim(text);
  if (text.empty()) return std::nullopt;
  const char side = text.back();
  if (std::string_view("NSEWnsew").find(side) == std::string_view::npos) return std::nullopt;
  text.remove_suffix(1);
  double out = 0, unit = 1;
  for (const std::string& part : split(text, ',')) {
    double value = 0;
    const auto [end, problem] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (problem != std::errc() || end != part.data() + part.size() || !(value >= 0) || unit < 1.0 / 3600)
      return std::nullopt;
    out += value * unit;
    unit /= 60;
  }
  return std::string_view("SWsw").find(side) != std::string_view::npos ? -out : out;
}

std::optional<PhotoMetadata::GeoPoint> make_geo_point(std::optional<double> latitude, std::optional<double> longitude) {
  if (!latitude || !longitude || !(std::fabs(*latitude) <= 90) || !(std::fabs(*longitude) <= 180)) return std::nullopt;
  if (*latitude == 0 && *longitude == 0) return std::nullopt;  // cameras without reception write zeros
  return PhotoMetadata::GeoPoint{*latitude, *longitude};
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// True for a date with a digit other than 0. A camera whose clock was never set writes blanks and zeros.
bool contains_date(std::string_view text) { return text.find_first_of("123456789") != std::string_view::npos; }

// Normalizes EXIF's "2024:05:01 12:30:00", or XMP's "2024-05-01T12:30:00+02:00", which may end after the year, month,
// day or minute. Returns an empty text for anything else.
std::string normalize_date(std::string_view text, std::string_view fraction = {}, std::string_view offset = {}) {
  text = trim(text);
  // A step of two digits: the characters that may precede them, the one that is written, and whether the time may end
  // there.
  struct Step {
    std::string_view before;
    char written;
    bool may_end;
  };
  constexpr std::array<Step, 5> kSteps = {
      {{":-", '-', true}, {":-", '-', true}, {" T", 'T', false}, {":", ':', true}, {":", ':', true}}};
  if (!is_digits(text.substr(0, 4)) || text.size() < 4 || text.substr(0, 4) == "0000") return "";
  std::string out(text.substr(0, 4));
  std::string_view rest = text.substr(4);
  std::size_t steps = 0;
  for (; steps < kSteps.size(); ++steps) {
    const Step& step = kSteps[steps];
    if (rest.size() < 3 || step.before.find(rest[0]) == std::string_view::npos || !is_digits(rest.substr(1, 2))) break;
    out += step.written;
    out += rest.substr(1, 2);
    rest.remove_prefix(3);
  }
  if (steps > 0 && !kSteps[steps - 1].may_end) return "";
  if (steps < 4) return rest.empty() ? out : "";  // a day has no offset
  if (steps == 5 && rest.starts_with('.')) {
    const std::size_t end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
    fraction = rest.substr(1, end - 1);
    rest.remove_prefix(end);
  }
  // The rest may be "+02:00", or the same without the colon. Any other rest makes the date invalid.
  std::string zone_text;
  if (rest = trim(rest); !rest.empty()) {
    zone_text = rest;
    if (zone_text.size() == 5 && (zone_text[0] == '+' || zone_text[0] == '-')) zone_text.insert(3, ":");
    offset = zone_text;
  }
  if (fraction = trim(fraction); is_digits(fraction) && fraction.size() <= 9) out += "." + std::string(fraction);
  offset = trim(offset);
  const bool zone = offset.size() == 6 && (offset[0] == '+' || offset[0] == '-') && is_digits(offset.substr(1, 2)) &&
                    offset[3] == ':' && is_digits(offset.substr(4, 2));
  if (!zone && offset != "Z" && !rest.empty()) return "";
  if (zone || offset == "Z") out += offset;
  return out;
}

// Reads text in UTF-16LE, as Windows writes it, up to its first zero.
std::string wide_text(ByteRange value) {
  const auto bytes = value.first(std::min(value.size(), kMaxWideMetadataBytes));
  std::string out;
  for (std::size_t i = 0; i + 2 <= bytes.size(); i += 2) {
    auto code = static_cast<std::uint32_t>(number_of(bytes.subspan(i, 2), ByteOrder::little));
    if (code == 0) break;
    if (code >= 0xD800 && code < 0xDC00 && i + 4 <= bytes.size()) {
      const auto low = static_cast<std::uint32_t>(number_of(bytes.subspan(i + 2, 2), ByteOrder::little));
      if (low < 0xDC00 || low >= 0xE000) continue;
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      i += 2;
    } else if (code >= 0xD800 && code < 0xE000) {
      continue;
    }
    out += encode_utf8(code);
  }
  return out;
}

std::optional<double> gps_degrees(const TiffFields& fields, std::uint16_t tag, std::uint16_t side_tag, char minus) {
  double out = 0, unit = 1;
  for (std::uint64_t i = 0; i < 3; ++i, unit /= 60) {
    const Rational part = fields.rational(TiffDirectory::gps, tag, i);
    if (!part.is_known()) {
      if (i == 0) return std::nullopt;
      continue;
    }
    out += static_cast<double>(part.numerator) / static_cast<double>(part.denominator) * unit;
  }
  const std::string side = fields.text(TiffDirectory::gps, side_tag);
  return !side.empty() && side[0] == minus ? -out : out;
}

void set_text(std::string& field, std::string_view bytes, std::size_t max_bytes, bool& cut) {
  if (field.empty()) field = clean_text(bytes, max_bytes, cut);
}

PhotoMetadata convert_to_metadata(const TiffFields& fields) {
  constexpr auto kMain = TiffDirectory::main, kExif = TiffDirectory::exif;
  constexpr std::uint16_t kTitle = 0x9C9B, kComment = 0x9C9C, kKeywords = 0x9C9E;  // Windows's own fields
  PhotoMetadata out;
  const auto rating = fields.number(kMain, 0x4746);
  if (rating && *rating <= 5) out.rating = static_cast<int>(*rating);
  for (const MetadataTextField& text : kMetadataTextFields) {
    if (text.exif == 0) continue;
    const std::string words = fields.text(kMain, text.exif, kMaxWideMetadataBytes);
    if (!is_default_description(words)) set_text(out.*text.metadata, words, text.max_bytes, out.cut);
  }
  set_text(out.title, wide_text(fields.value(kMain, kTitle)), kMaxWordBytes, out.cut);
  set_text(out.description, wide_text(fields.value(kMain, kComment)), kMaxDescriptionBytes, out.cut);
  for (const std::string& word : split(wide_text(fields.value(kMain, kKeywords)), ';')) {
    add_word(word, out.keywords, out.cut);
  }
  for (const std::uint16_t tag : {kTitle, kComment, kKeywords}) {
    out.cut = out.cut || fields.value(kMain, tag).size() > kMaxWideMetadataBytes;
  }
  out.place = make_geo_point(gps_degrees(fields, 2, 1, 'S'), gps_degrees(fields, 4, 3, 'W'));
  const std::string taken = fields.text(kExif, 0x9003);
  out.taken = normalize_date(taken, fields.text(kExif, 0x9291), fields.text(kExif, 0x9011));
  if (out.taken.empty() && contains_date(taken)) out.unparsed = "its date";
  return out;
}

PhotoMetadata convert_to_metadata(const XmpFacts& facts) {
  const XmpWords& words = facts.words;
  PhotoMetadata out;
  out.developed = facts.developed;
  out.cut = words.cut;
  if (words.unparsed) out.unparsed = "its XMP";
  out.rating = facts.rating.value_or(0);
  for (const std::string& word : words.subjects) add_word(word, out.keywords, out.cut);
  for (const auto& [list, mark] : {std::pair(&words.keyword_paths, '|'), std::pair(&words.tags, '/')}) {
    for (std::string branch : *list) {
      // Programs that keep keyword trees also write the leaves as subjects. Where there are no subjects, the leaves
      // become keywords.
      if (words.subjects.empty()) add_word(branch.substr(branch.find_last_of("|/") + 1), out.keywords, out.cut);
      if (branch.find(mark) == std::string::npos) continue;
      std::replace(branch.begin(), branch.end(), mark, '|');
      add_word(branch, out.keyword_paths, out.cut);
    }
  }
  for (const auto* list : {&words.persons, &words.regions, &words.faces}) {
    for (const std::string& name : *list) add_word(name, out.people, out.cut);
  }
  for (const MetadataTextField& text : kMetadataTextFields)
    set_text(out.*text.metadata, words.*text.xmp, text.max_bytes, out.cut);
  if (lower_ascii(out.label) == "none") out.label.clear();
  const auto latitude = parse_degrees(words.latitude), longitude = parse_degrees(words.longitude);
  out.place = make_geo_point(latitude, longitude);
  if ((!latitude && !trim(words.latitude).empty()) || (!longitude && !trim(words.longitude).empty()))
    out.unparsed = "its GPS position";
  for (const std::string& date : {words.taken, words.created}) {
    if (out.taken.empty()) out.taken = normalize_date(date);
    if (normalize_date(date).empty() && contains_date(date)) out.unparsed = "its date";
  }
  return out;
}

PhotoMetadata convert_to_metadata(const MetadataLocations& locations) {
  constexpr std::uint8_t kKeyword = 25;
  PhotoMetadata out;
  IptcFacts facts;
  if (!locations.iptc.empty()) {
    facts = read_iptc(locations.iptc.first(kMaxIptc));
    out.cut = locations.iptc.size() > kMaxIptc;
  } else if (!locations.resources.empty()) {
    const auto read = locations.resources.first(kMaxIptc), datasets = find_iptc_datasets(read);
    facts = read_iptc(datasets);
    const bool whole = !datasets.empty() && datasets.data() + datasets.size() < read.data() + read.size();
    out.cut = locations.resources.size() > kMaxIptc && !whole;
  }
  for (const auto& [number, words] : facts.texts) {
    if (number == kKeyword) add_word(words, out.keywords, out.cut);
    for (const MetadataTextField& text : kMetadataTextFields) {
      if (text.iptc != number || is_default_description(words)) continue;
      std::string& metadata = out.*text.metadata;
      if (text.form == MetadataTextField::Form::sequence && !metadata.empty()) {
        metadata = clean_text(fmt::format("{}; {}", metadata, words), text.max_bytes, out.cut);
      } else {
        set_text(metadata, words, text.max_bytes, out.cut);
      }
    }
  }
  return out;
}

}  // namespace

Outcome<PhotoMetadata> read_metadata(const std::string& path, const FileState& wanted) {
  auto file = FileReader::open(path, FileReader::Hashing::off, LinkPolicy::refused);
  if (!file) return file.error();
  const auto state = state_of_descriptor((*file)->descriptor());
  if (!state || !state->same(wanted))
    return Error{ErrorCode::conflict, "changed during this run", escape_unprintable(path), ""};
  ByteSource source((*file)->descriptor(), (*file)->size(), kMaxMetadataBytes);
  const MetadataLocations locations = find_metadata(ByteRange(source), path);
  PhotoMetadata out;
  if (locations.xmp) {
    out.add(convert_to_metadata(read_xmp(as_text(locations.xmp->first(kMaxXmp)))));
    out.cut = out.cut || locations.xmp->size() > kMaxXmp;
  }
  for (const ExifBlock& part : locations.exif) out.add(convert_to_metadata(TiffFields(part.block, part.first)));
  out.add(convert_to_metadata(locations));
  if (source.error_number() != 0)
    return system_error("cannot be read", escape_unprintable(path), source.error_number());
  return out;
}

Outcome<std::string> read_sidecar_text(const std::string& path) {
  auto file = FileReader::open(path, FileReader::Hashing::off, LinkPolicy::refused);
  if (!file) return file.error();
  if ((*file)->size() > kMaxSidecarBytes) {
    return Error{ErrorCode::unsupported, fmt::format("is larger than {}", format_bytes(Bytes{kMaxSidecarBytes})),
                 escape_unprintable(path), ""};
  }
  return read_text(**file, kMaxSidecarBytes);
}

Outcome<PhotoMetadata> read_sidecar_metadata(const std::string& path) {
  const std::string kind = extension(path);
  PhotoMetadata out;
  out.developed = is_settings_sidecar(path);
  if (kind != "xmp" && kind != "json") return out;
  const auto text = read_sidecar_text(path);
  if (!text) return text.error();
  const auto refused = [&](const char* what) {
    return Error{ErrorCode::unsupported, what, escape_unprintable(path), ""};
  };
  if (trim(*text).empty()) return out;
  if (kind == "xmp") {
    const XmpFacts facts = read_xmp(*text);
    if (!facts.packet) return refused("is not XMP in UTF-8");
    return convert_to_metadata(facts);
  }
  const TakeoutFacts facts = read_takeout(*text);
  if (!facts.readable) return refused("is not JSON");
  for (const std::string& name : facts.people) add_word(name, out.people, out.cut);
  set_text(out.description, facts.description, kMaxDescriptionBytes, out.cut);
  out.place = make_geo_point(facts.latitude, facts.longitude);
  out.favourite = facts.favourite;
  return out;
}

}  // namespace millrace
