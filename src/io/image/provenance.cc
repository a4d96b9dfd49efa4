#include "src/io/image/provenance.h"

#include <algorithm>
#include <iterator>

#include "src/base/text.h"
#include "src/io/image/metadata/holdings.h"
#include "src/io/image/metadata/iptc.h"
#include "src/io/image/metadata/parts.h"
#include "src/io/image/metadata/profile.h"
#include "src/io/image/metadata/software.h"
#include "src/io/image/metadata/xmp.h"

namespace millrace {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t kLongestWideText = 8192;

void set(std::string& field, std::string value) {
  if (!field.empty()) return;
  field = std::move(value);
  if (field.size() > TiffFields::kLongestText) field.resize(TiffFields::kLongestText);
}

bool is_blank_unit(std::uint64_t unit) { return unit == 0 || unit == ' ' || (unit >= 9 && unit <= 13); }

// Number of entries between semicolons that are not blank, in UTF-16LE text as Windows writes it.
std::uint32_t pieces_of_wide_text(ByteRange value) {
  const auto bytes = value.first(std::min(value.size(), kLongestWideText));
  std::uint32_t pieces = 0;
  bool in_piece = false;
  for (std::size_t i = 0; i + 2 <= bytes.size(); i += 2) {
    const std::uint64_t unit = number_of(bytes.subspan(i, 2), ByteOrder::little);
    if (unit == ';') {
      in_piece = false;
    } else if (!in_piece && !is_blank_unit(unit)) {
      in_piece = true;
      ++pieces;
    }
  }
  return pieces;
}

// True where EXIF's UserComment was written by a person. Its first eight bytes name the encoding. Some cameras fill it
// with binary data.
bool comment_says_something(ByteRange value) {
  constexpr std::uint64_t kEncoding = 8;
  const std::string_view bytes = as_text(value.first(std::min(value.size(), TiffFields::kLongestText)));
  if (bytes.size() <= kEncoding) return false;
  const std::string_view text = bytes.substr(kEncoding);
  if (bytes.starts_with("UNICODE")) {
    // Without the zero bytes of 16-bit ASCII, in either byte order, the default texts of cameras can be recognised.
    std::string narrow;
    std::copy_if(text.begin(), text.end(), std::back_inserter(narrow), [](char c) { return c != 0; });
    return !says_nothing(narrow);
  }
  const std::string_view line = text.substr(0, text.find('\0'));
  const bool binary = std::any_of(line.begin(), line.end(),
                                  [](char c) { return c >= 0 && c < ' ' && c != '\t' && c != '\n' && c != '\r'; });
  return !binary && !says_nothing(line);
}

bool has_place(const TiffFields& fields) {
  constexpr std::uint16_t kLatitude = 2, kLongitude = 4;
  bool nonzero = false;
  for (const std::uint16_t tag : {kLatitude, kLongitude}) {
    // The three values are degrees, minutes and seconds; an unknown one is 0/0.
    if (!fields.rational(TiffDirectory::gps, tag).known()) return false;
    for (std::uint64_t i = 0; i < 3; ++i) {
      const Rational part = fields.rational(TiffDirectory::gps, tag, i);
      nonzero = nonzero || (part.known() && part.numerator != 0);
    }
  }
  return nonzero;  // cameras without reception write zeros
}

std::uint32_t iso_of(const TiffFields& fields) {
  constexpr std::uint16_t kIso = 0x8827, kRecommendedIndex = 0x8832, kIsoSpeed = 0x8833;
  constexpr std::uint64_t kNotIn16Bits = 65535;
  for (const std::uint16_t tag : {kIso, kIsoSpeed, kRecommendedIndex}) {
    const auto iso = fields.number(TiffDirectory::exif, tag);
    if (iso && *iso != 0 && !(tag == kIso && *iso == kNotIn16Bits)) return static_cast<std::uint32_t>(*iso);
  }
  return 0;
}

void add_exif(const TiffFields& fields, Provenance& out) {
  constexpr auto kMain = TiffDirectory::main, kExif = TiffDirectory::exif;
  set(out.make, fields.text(kMain, 0x010F));
  set(out.model, fields.text(kMain, 0x0110));
  set(out.serial, fields.text(kExif, 0xA431));
  set(out.serial, fields.text(kMain, 0xC62F));
  out.maker_note = out.maker_note || !fields.value(kExif, 0x927C).empty();
  set(out.software, fields.text(kMain, 0x0131));
  const std::string processed_by = fields.text(kMain, 0x000B);
  out.edited_by_program = out.edited_by_program || names_editor(out.software) || names_editor(processed_by);

  set(out.taken, fields.text(kExif, 0x9003));
  set(out.subsecond, fields.text(kExif, 0x9291));
  set(out.offset, fields.text(kExif, 0x9011));
  if (!out.exposure_time.known()) out.exposure_time = fields.rational(kExif, 0x829A);
  if (!out.f_number.known()) out.f_number = fields.rational(kExif, 0x829D);
  if (!out.exposure_bias.known()) out.exposure_bias = fields.rational(kExif, 0x9204);
  if (out.iso == 0) out.iso = iso_of(fields);
  if (out.told_width == 0) out.told_width = static_cast<std::uint32_t>(fields.number(kExif, 0xA002).value_or(0));
  if (out.told_height == 0) out.told_height = static_cast<std::uint32_t>(fields.number(kExif, 0xA003).value_or(0));

  const auto rating = fields.number(kMain, 0x4746);
  if (rating && *rating <= 5) out.rating = static_cast<int>(*rating);
  out.title = out.title || pieces_of_wide_text(fields.value(kMain, 0x9C9B)) > 0;
  out.keywords = std::max(out.keywords, pieces_of_wide_text(fields.value(kMain, 0x9C9E)));
  out.description = out.description || !says_nothing(fields.text(kMain, 0x010E)) ||
                    comment_says_something(fields.value(kExif, 0x9286)) ||
                    pieces_of_wide_text(fields.value(kMain, 0x9C9C)) > 0;
  out.gps = out.gps || has_place(fields);
}

void add_xmp(std::string_view packet, Provenance& out) {
  const XmpFacts facts = read_xmp(packet);
  set(out.serial, facts.serial);
  set(out.software, facts.creator_tool);
  out.edited_by_program = out.edited_by_program || facts.edited || names_editor(facts.creator_tool);
  add_said(facts, out);
}

void add_iptc(const MetadataParts& parts, Provenance& out) {
  IptcFacts facts;
  if (!parts.iptc.empty()) {
    facts = read_iptc(parts.iptc.first(kMaxIptc));
  } else if (!parts.resources.empty()) {
    facts = read_iptc(iptc_among_resources(parts.resources.first(kMaxIptc)));
  }
  out.keywords = std::max(out.keywords, facts.keywords);
  out.title = out.title || facts.title;
  out.description = out.description || facts.description;
  out.edited_by_program = out.edited_by_program || facts.edited;
}

void add_tables(const JpegTables& tables, Provenance& out) {
  out.tables = tables.hash();
  out.jpeg_quality = tables.quality();
  out.own_tables = tables.any() && out.jpeg_quality == 0;
}

}  // namespace

void add_said(const XmpFacts& facts, Provenance& to) {
  if (facts.rating) to.rating = *facts.rating;
  to.keywords = std::max(to.keywords, facts.keywords);
  to.people = std::max(to.people, facts.people);
  to.title = to.title || facts.title;
  to.description = to.description || facts.description;
  to.gps = to.gps || facts.gps;
  to.colour_label = to.colour_label || facts.colour_label;
  to.developed = to.developed || facts.developed;
}

Outcome<Provenance> provenance_of(FileReader& file) {
  ByteSource source(file.descriptor(), file.size(), kMostMetadataRead);
  const MetadataParts parts = find_parts(ByteRange(source), file.path());
  Provenance out;
  for (const ExifPart& part : parts.exif) add_exif(TiffFields(part.block, part.first), out);
  if (parts.xmp) add_xmp(as_text(parts.xmp->first(kMaxXmp)), out);
  add_iptc(parts, out);
  if (parts.tables) add_tables(*parts.tables, out);
  set(out.software, parts.software);
  out.maker_note = out.maker_note || parts.maker_note;
  out.title = out.title || parts.title;
  out.description = out.description || parts.description;
  out.edited_by_program = out.edited_by_program || names_editor(parts.software) ||
                          std::any_of(parts.comments.begin(), parts.comments.end(), names_editor);
  // The limit allows four reads of every byte: a list may name the same bytes several times, though none should.
  ByteSource whole(file.descriptor(), file.size(), 4 * file.size() + kMostMetadataRead);
  out.holdings = holdings_in(ByteRange(whole), parts);
  if (whole.error_number() != 0) return system_error("cannot be read", printable(file.path()), whole.error_number());
  if (source.error_number() != 0) return system_error("cannot be read", printable(file.path()), source.error_number());
  return out;
}

Outcome<std::optional<ToSrgb>> colours_of(const std::string& path) {
  const auto file = FileReader::open(path, FileReader::Hashing::off);
  if (!file) return file.error();
  ByteSource source((*file)->descriptor(), (*file)->size(), kMostMetadataRead);
  auto colours = ToSrgb::from_profile(profile_in(find_parts(ByteRange(source), path)));
  if (source.error_number() != 0) return system_error("cannot be read", printable(path), source.error_number());
  return colours;
}

Outcome<Provenance> provenance_of(const std::string& path) {
  auto file = FileReader::open(path, FileReader::Hashing::off);
  if (!file) return file.error();
  return provenance_of(**file);
}

}  // namespace millrace
