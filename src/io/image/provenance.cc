#include "src/io/image/provenance.h"

#include <algorithm>
#include <iterator>

#include "src/base/text.h"
#include "src/io/image/metadata/editing_software.h"
#include "src/io/image/metadata/extra_data_search.h"
#include "src/io/image/metadata/icc_profile.h"
#include "src/io/image/metadata/iptc.h"
#include "src/io/image/metadata/metadata_locations.h"
#include "src/io/image/metadata/xmp.h"

namespace millrace {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t kMaxWideTextBytes = 8192;

void set_if_empty(std::string& field, std::string value) {
  if (!field.empty()) return;
  field = std::move(value);
  if (field.size() > TiffFields::kMaxTextBytes) field.resize(TiffFields::kMaxTextBytes);
}

bool is_blank_unit(std::uint64_t unit) { return unit == 0 || unit == ' ' || (unit >= 9 && unit <= 13); }

// Number of entries between semicolons that are not blank, in UTF-16LE text as Windows writes it.
std::uint32_t count_wide_entries(ByteRange value) {
  const auto bytes = value.first(std::min(value.size(), kMaxWideTextBytes));
  std::uint32_t entries = 0;
  bool in_entry = false;
  for (std::size_t i = 0; i + 2 <= bytes.size(); i += 2) {
    const std::uint64_t unit = number_of(bytes.subspan(i, 2), ByteOrder::little);
    if (unit == ';') {
      in_entry = false;
    } else if (!in_entry && !is_blank_unit(unit)) {
      in_entry = true;
      ++entries;
    }
  }
  return entries;
}

// True where EXIF's UserComment was written by a person. Its first eight bytes name the encoding. Some cameras fill it
// with binary data.
bool is_personal_comment(ByteRange value) {
  constexpr std::uint64_t kEncoding = 8;
  const std::string_view bytes = as_text(value.first(std::min(value.size(), TiffFields::kMaxTextBytes)));
  if (bytes.size() <= kEncoding) return false;
  const std::string_view text = bytes.substr(kEncoding);
  if (bytes.starts_with("UNICODE")) {
    // Without the zero bytes of 16-bit ASCII, in either byte order, the default texts of cameras can be recognised.
    std::string narrow;
    std::copy_if(text.begin(), text.end(), std::back_inserter(narrow), [](char c) { return c != 0; });
    return !is_default_description(narrow);
  }
  const std::string_view line = text.substr(0, text.find('\0'));
  const bool binary = std::any_of(line.begin(), line.end(),
                                  [](char c) { return c >= 0 && c < ' ' && c != '\t' && c != '\n' && c != '\r'; });
  return !binary && !is_default_description(line);
}

bool has_gps_position(const TiffFields& fields) {
  constexpr std::uint16_t kLatitude = 2, kLongitude = 4;
  bool nonzero = false;
  for (const std::uint16_t tag : {kLatitude, kLongitude}) {
    // The three values are degrees, minutes and seconds; an unknown one is 0/0.
    if (!fields.rational(TiffDirectory::gps, tag).is_known()) return false;
    for (std::uint64_t i = 0; i < 3; ++i) {
      const Rational part = fields.rational(TiffDirectory::gps, tag, i);
      nonzero = nonzero || (part.is_known() && part.numerator != 0);
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
  set_if_empty(out.make, fields.text(kMain, 0x010F));
  set_if_empty(out.model, fields.text(kMain, 0x0110));
  set_if_empty(out.serial, fields.text(kExif, 0xA431));
  set_if_empty(out.serial, fields.text(kMain, 0xC62F));
  out.maker_note = out.maker_note || !fields.value(kExif, 0x927C).empty();
  set_if_empty(out.software, fields.text(kMain, 0x0131));
  const std::string processed_by = fields.text(kMain, 0x000B);
  out.edited_by_program = out.edited_by_program || is_editor_name(out.software) || is_editor_name(processed_by);

  set_if_empty(out.taken, fields.text(kExif, 0x9003));
  set_if_empty(out.subsecond, fields.text(kExif, 0x9291));
  set_if_empty(out.offset, fields.text(kExif, 0x9011));
  if (!out.exposure_time.is_known()) out.exposure_time = fields.rational(kExif, 0x829A);
  if (!out.f_number.is_known()) out.f_number = fields.rational(kExif, 0x829D);
  if (!out.exposure_bias.is_known()) out.exposure_bias = fields.rational(kExif, 0x9204);
  if (out.iso == 0) out.iso = iso_of(fields);
  if (out.exif_width == 0) out.exif_width = static_cast<std::uint32_t>(fields.number(kExif, 0xA002).value_or(0));
  if (out.exif_height == 0) out.exif_height = static_cast<std::uint32_t>(fields.number(kExif, 0xA003).value_or(0));

  const auto rating = fields.number(kMain, 0x4746);
  if (rating && *rating <= 5) out.rating = static_cast<int>(*rating);
  out.title = out.title || count_wide_entries(fields.value(kMain, 0x9C9B)) > 0;
  out.keywords = std::max(out.keywords, count_wide_entries(fields.value(kMain, 0x9C9E)));
  out.description = out.description || !is_default_description(fields.text(kMain, 0x010E)) ||
                    is_personal_comment(fields.value(kExif, 0x9286)) ||
                    count_wide_entries(fields.value(kMain, 0x9C9C)) > 0;
  out.gps = out.gps || has_gps_position(fields);
}

void add_xmp(std::string_view packet, Provenance& out) {
  const XmpFacts facts = read_xmp(packet);
  set_if_empty(out.serial, facts.serial);
  set_if_empty(out.software, facts.creator_tool);
  out.edited_by_program = out.edited_by_program || facts.edited || is_editor_name(facts.creator_tool);
  add_xmp_facts(facts, out);
}

void add_iptc(const MetadataLocations& locations, Provenance& out) {
  IptcFacts facts;
  if (!locations.iptc.empty()) {
    facts = read_iptc(locations.iptc.first(kMaxIptc));
  } else if (!locations.resources.empty()) {
    facts = read_iptc(find_iptc_datasets(locations.resources.first(kMaxIptc)));
  }
  out.keywords = std::max(out.keywords, facts.keywords);
  out.title = out.title || facts.title;
  out.description = out.description || facts.description;
  out.edited_by_program = out.edited_by_program || facts.edited;
}

void add_tables(const JpegTables& tables, Provenance& out) {
  out.tables = tables.hash();
  out.jpeg_quality = tables.quality();
  out.has_custom_tables = tables.any() && out.jpeg_quality == 0;
}

}  // namespace

void add_xmp_facts(const XmpFacts& facts, Provenance& to) {
  if (facts.rating) to.rating = *facts.rating;
  to.keywords = std::max(to.keywords, facts.keywords);
  to.people = std::max(to.people, facts.people);
  to.title = to.title || facts.title;
  to.description = to.description || facts.description;
  to.gps = to.gps || facts.gps;
  to.colour_label = to.colour_label || facts.colour_label;
  to.developed = to.developed || facts.developed;
}

Outcome<Provenance> read_provenance(FileReader& file) {
  ByteSource source(file.descriptor(), file.size(), kMaxMetadataBytes);
  const MetadataLocations locations = find_metadata(ByteRange(source), file.path());
  Provenance out;
  for (const ExifBlock& part : locations.exif) add_exif(TiffFields(part.block, part.first), out);
  if (locations.xmp) add_xmp(as_text(locations.xmp->first(kMaxXmp)), out);
  add_iptc(locations, out);
  if (locations.tables) add_tables(*locations.tables, out);
  set_if_empty(out.software, locations.software);
  out.maker_note = out.maker_note || locations.maker_note;
  out.title = out.title || locations.title;
  out.description = out.description || locations.description;
  out.edited_by_program = out.edited_by_program || is_editor_name(locations.software) ||
                          std::any_of(locations.comments.begin(), locations.comments.end(), is_editor_name);
  // The limit allows four reads of every byte: a list may name the same bytes several times, though none should.
  ByteSource whole(file.descriptor(), file.size(), 4 * file.size() + kMaxMetadataBytes);
  out.extra_data = find_extra_data(ByteRange(whole), locations);
  if (whole.error_number() != 0)
    return system_error("cannot be read", escape_unprintable(file.path()), whole.error_number());
  if (source.error_number() != 0)
    return system_error("cannot be read", escape_unprintable(file.path()), source.error_number());
  return out;
}

Outcome<std::optional<SrgbConverter>> read_color_profile(const std::string& path) {
  const auto file = FileReader::open(path, FileReader::Hashing::off);
  if (!file) return file.error();
  ByteSource source((*file)->descriptor(), (*file)->size(), kMaxMetadataBytes);
  auto colours = SrgbConverter::from_profile(read_icc_profile(find_metadata(ByteRange(source), path)));
  if (source.error_number() != 0)
    return system_error("cannot be read", escape_unprintable(path), source.error_number());
  return colours;
}

Outcome<Provenance> read_provenance(const std::string& path) {
  auto file = FileReader::open(path, FileReader::Hashing::off);
  if (!file) return file.error();
  return read_provenance(**file);
}

}  // namespace millrace
