#include "src/io/image/said.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "src/base/text.h"
#include "src/io/file/reader.h"
#include "src/io/image/metadata/iptc.h"
#include "src/io/image/metadata/parts.h"
#include "src/io/image/metadata/software.h"
#include "src/io/image/metadata/xmp.h"
#include "src/io/image/provenance.h"
#include "src/io/image/takeout.h"

namespace millrace {
namespace {

constexpr std::uint64_t kLongestXmp = 1 << 20, kLongestIptc = 1 << 18, kLongestWide = 1 << 16,
                        kLongestSidecar = 1 << 20;
constexpr std::size_t kLongestWord = 2000, kLongestDescription = 20'000, kMostWords = 1000;

// Of bytes in an encoding that is not told: UTF-8 where they are that, else Latin-1.
std::string utf8_of(std::string_view bytes) {
  if (is_utf8(bytes)) return std::string(bytes);
  std::string out;
  for (const char c : bytes) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x80) {
      out += c;
    } else {
      out += static_cast<char>(0xC0 | code >> 6);
      out += static_cast<char>(0x80 | (code & 0x3F));
    }
  }
  return out;
}

// Without what XML cannot hold; cut between characters.
std::string clean(std::string_view bytes, std::size_t longest) {
  std::string text;
  for (const char c : utf8_of(bytes)) {
    const auto code = static_cast<unsigned char>(c);
    text += code < 0x20 || code == 0x7F ? ' ' : c;
  }
  for (const char* non_character : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (std::size_t at = text.find(non_character); at != std::string::npos; at = text.find(non_character, at))
      text.erase(at, 3);
  }
  std::string_view kept = trim(text);
  if (kept.size() > longest) {
    std::size_t end = longest;
    while (end > 0 && (static_cast<unsigned char>(kept[end]) & 0xC0) == 0x80) --end;
    kept = trim(kept.substr(0, end));
  }
  return std::string(kept);
}

void add_word(std::string_view bytes, std::vector<std::string>& words) {
  std::string word = clean(bytes, kLongestWord);
  if (word.empty() || words.size() >= kMostWords) return;
  const std::string lower = lower_ascii(word);
  if (std::none_of(words.begin(), words.end(), [&](const std::string& w) { return lower_ascii(w) == lower; }))
    words.push_back(std::move(word));
}

void set(std::string& field, std::string_view bytes, std::size_t longest) {
  if (field.empty()) field = clean(bytes, longest);
}

// "52,30.5N" or "52,30,30N"; nothing for anything else.
std::optional<double> degrees_of(std::string_view text) {
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

std::optional<Said::Place> place_at(std::optional<double> latitude, std::optional<double> longitude) {
  if (!latitude || !longitude || !(std::fabs(*latitude) <= 90) || !(std::fabs(*longitude) <= 180)) return std::nullopt;
  if (*latitude == 0 && *longitude == 0) return std::nullopt;  // what is written without reception
  return Said::Place{*latitude, *longitude};
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// EXIF's "2024:05:01 12:30:00", or XMP's "2024-05-01T12:30:00..."; empty for what is no such time.
std::string moment_of(std::string_view text, std::string_view fraction = {}, std::string_view offset = {}) {
  text = trim(text);
  if (text.size() < 19) return "";
  for (const std::size_t at : {0U, 5U, 8U, 11U, 14U, 17U}) {
    if (!is_digits(text.substr(at, at == 0 ? 4 : 2))) return "";
  }
  const auto is = [&](std::size_t at, std::string_view any) { return any.find(text[at]) != std::string_view::npos; };
  if (!is(4, ":-") || !is(7, ":-") || !is(10, " T") || !is(13, ":") || !is(16, ":")) return "";
  if (text.substr(0, 4) == "0000") return "";
  std::string out(text.substr(0, 19));
  out[4] = out[7] = '-';
  out[10] = 'T';
  std::string_view rest = text.substr(19);
  if (rest.starts_with('.')) {
    const std::size_t end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
    fraction = rest.substr(1, end - 1);
    rest.remove_prefix(end);
  }
  if (!rest.empty()) offset = rest;
  if (fraction = trim(fraction); is_digits(fraction) && fraction.size() <= 9) out += "." + std::string(fraction);
  offset = trim(offset);
  const bool zone = offset.size() == 6 && (offset[0] == '+' || offset[0] == '-') && is_digits(offset.substr(1, 2)) &&
                    offset[3] == ':' && is_digits(offset.substr(4, 2));
  if (zone || offset == "Z") out += offset;
  return out;
}

// Text in UTF-16LE, as Windows writes it, up to its first zero.
std::string wide_text(ByteRange value) {
  const auto bytes = value.first(std::min(value.size(), kLongestWide));
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
    const auto put = [&](std::uint32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
    if (code < 0x80) {
      put(code);
    } else if (code < 0x800) {
      put(0xC0 | code >> 6);
      put(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
      put(0xE0 | code >> 12);
      put(0x80 | (code >> 6 & 0x3F));
      put(0x80 | (code & 0x3F));
    } else {
      put(0xF0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3F));
      put(0x80 | (code >> 6 & 0x3F));
      put(0x80 | (code & 0x3F));
    }
  }
  return out;
}

std::optional<double> gps_degrees(const TiffFields& fields, std::uint16_t tag, std::uint16_t side_tag, char minus) {
  double out = 0, unit = 1;
  for (std::uint64_t i = 0; i < 3; ++i, unit /= 60) {
    const Rational part = fields.rational(TiffDirectory::gps, tag, i);
    if (!part.known()) {
      if (i == 0) return std::nullopt;
      continue;
    }
    out += static_cast<double>(part.numerator) / static_cast<double>(part.denominator) * unit;
  }
  const std::string side = fields.text(TiffDirectory::gps, side_tag);
  return !side.empty() && side[0] == minus ? -out : out;
}

Said said_in(const TiffFields& fields) {
  constexpr auto kMain = TiffDirectory::main, kExif = TiffDirectory::exif;
  Said out;
  const auto rating = fields.number(kMain, 0x4746);
  if (rating && *rating <= 5) out.rating = static_cast<int>(*rating);
  set(out.title, wide_text(fields.value(kMain, 0x9C9B)), kLongestWord);
  for (const std::string& word : split(wide_text(fields.value(kMain, 0x9C9E)), ';')) add_word(word, out.keywords);
  for (const std::string& text : {fields.text(kMain, 0x010E), wide_text(fields.value(kMain, 0x9C9C))}) {
    if (!says_nothing(text)) set(out.description, text, kLongestDescription);
  }
  out.place = place_at(gps_degrees(fields, 2, 1, 'S'), gps_degrees(fields, 4, 3, 'W'));
  out.taken = moment_of(fields.text(kExif, 0x9003), fields.text(kExif, 0x9291), fields.text(kExif, 0x9011));
  return out;
}

Said said_in(const XmpFacts& facts) {
  const XmpWords& words = facts.words;
  Said out;
  out.rating = facts.rating.value_or(0);
  for (const std::string& word : words.subjects) add_word(word, out.keywords);
  // Programs that keep trees write their leaves as subjects too; where none did, the leaves are what was said.
  if (words.subjects.empty()) {
    for (const auto* list : {&words.branches, &words.tags}) {
      for (const std::string& branch : *list) add_word(branch.substr(branch.find_last_of("|/") + 1), out.keywords);
    }
  }
  for (const auto* list : {&words.persons, &words.regions, &words.faces}) {
    for (const std::string& name : *list) add_word(name, out.people);
  }
  set(out.title, words.title, kLongestWord);
  set(out.description, words.description, kLongestDescription);
  out.place = place_at(degrees_of(words.latitude), degrees_of(words.longitude));
  out.taken = moment_of(words.taken);
  if (out.taken.empty()) out.taken = moment_of(words.created);
  return out;
}

Said said_in(const MetadataParts& parts) {
  IptcFacts facts;
  if (!parts.iptc.empty()) {
    facts = read_iptc(parts.iptc.first(kLongestIptc));
  } else if (!parts.resources.empty()) {
    facts = read_iptc(iptc_among_resources(parts.resources.first(kLongestIptc)));
  }
  Said out;
  for (const std::string& word : facts.words) add_word(word, out.keywords);
  set(out.title, facts.title_text, kLongestWord);
  set(out.description, facts.caption, kLongestDescription);
  return out;
}

std::string in_xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// "52,30.508333N": minutes to six digits, which is 2 mm.
std::string in_minutes(double degrees, const char* sides) {
  const double all = std::fabs(degrees);
  auto whole = static_cast<int>(all);
  double minutes = std::round((all - whole) * 60e6) / 1e6;
  if (minutes >= 60) {
    ++whole;
    minutes = 0;
  }
  return fmt::format("{},{:.6f}{}", whole, minutes, sides[degrees < 0 ? 1 : 0]);
}

bool near(const Said::Place& a, const Said::Place& b) {
  constexpr double kDegrees = 1e-4;  // some ten metres: programs round
  return std::fabs(a.latitude - b.latitude) < kDegrees && std::fabs(a.longitude - b.longitude) < kDegrees;
}

}  // namespace

bool Said::nothing() const {
  return rating == 0 && keywords.empty() && people.empty() && title.empty() && description.empty() && !place &&
         taken.empty();
}

void Said::add(const Said& other) {
  if (rating == 0) rating = other.rating;
  for (const std::string& word : other.keywords) add_word(word, keywords);
  for (const std::string& name : other.people) add_word(name, people);
  if (title.empty()) title = other.title;
  if (description.empty()) description = other.description;
  if (!place) place = other.place;
  if (taken.empty()) taken = other.taken;
}

Outcome<Said> said_of(const std::string& path) {
  auto file = FileReader::open(path, FileReader::Hashing::off);
  if (!file) return file.error();
  ByteSource source((*file)->descriptor(), (*file)->size(), kMostMetadataRead);
  const MetadataParts parts = find_parts(ByteRange(source), path);
  Said out;
  if (parts.xmp) out.add(said_in(read_xmp(as_text(parts.xmp->first(kLongestXmp)))));
  for (const ExifPart& part : parts.exif) out.add(said_in(TiffFields(part.block, part.first)));
  out.add(said_in(parts));
  if (source.error_number() != 0) return system_error("cannot be read", printable(path), source.error_number());
  return out;
}

Said said_by_sidecar(const std::string& path) {
  const std::string kind = extension(path);
  if (kind != "xmp" && kind != "json") return {};
  const auto text = read_text(path, kLongestSidecar);
  if (!text) return {};
  if (kind == "xmp") return said_in(read_xmp(std::string_view(*text).substr(0, kLongestSidecar)));
  Said out;
  const TakeoutFacts facts = text->size() <= kLongestSidecar ? read_takeout(*text) : TakeoutFacts();
  for (const std::string& name : facts.people) add_word(name, out.people);
  set(out.description, facts.description, kLongestDescription);
  out.place = place_at(facts.latitude, facts.longitude);
  return out;
}

Lacking lacking(const Said& of, const Said& from) {
  Lacking out;
  const auto either = [&](bool own, bool theirs, bool equal, const auto& take, const std::string& words) {
    if (!theirs || equal) return;
    if (own) {
      out.differing.push_back(words);
    } else {
      take();
    }
  };
  either(
      of.rating != 0, from.rating != 0, of.rating == from.rating, [&] { out.said.rating = from.rating; },
      fmt::format("rating {}, not {}", of.rating, from.rating));
  either(
      !of.title.empty(), !from.title.empty(), of.title == from.title, [&] { out.said.title = from.title; },
      fmt::format("title \"{}\", not \"{}\"", of.title, from.title));
  either(
      !of.description.empty(), !from.description.empty(), of.description == from.description,
      [&] { out.said.description = from.description; }, "another description");
  either(
      of.place.has_value(), from.place.has_value(), of.place && from.place && near(*of.place, *from.place),
      [&] { out.said.place = from.place; }, "another place");
  // The same second may be told more or less closely.
  either(
      !of.taken.empty(), !from.taken.empty(), of.taken.substr(0, 19) == from.taken.substr(0, 19),
      [&] { out.said.taken = from.taken; }, fmt::format("taken {}, not {}", of.taken, from.taken));
  const auto more = [](const std::vector<std::string>& own, const std::vector<std::string>& theirs) {
    std::vector<std::string> all = own, added;
    for (const std::string& word : theirs) {
      const std::size_t before = all.size();
      add_word(word, all);
      if (all.size() > before) added.push_back(word);
    }
    return added;
  };
  out.said.keywords = more(of.keywords, from.keywords);
  out.said.people = more(of.people, from.people);
  return out;
}

std::string words_of(const Said& said) {
  std::vector<std::string> parts;
  const auto listed = [&](const char* what, const std::vector<std::string>& words) {
    constexpr std::size_t kShown = 5;
    if (words.empty()) return;
    std::string text = fmt::format(
        "{} {}", what,
        fmt::join(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, words.size())), ", "));
    if (words.size() > kShown) text += fmt::format(" and {} more", words.size() - kShown);
    parts.push_back(std::move(text));
  };
  if (said.rating != 0) parts.push_back(fmt::format("rating {}", said.rating));
  if (!said.title.empty()) parts.push_back(fmt::format("title \"{}\"", said.title));
  if (!said.description.empty()) parts.emplace_back("description");
  listed("keywords", said.keywords);
  listed("people", said.people);
  if (said.place) parts.emplace_back("place");
  if (!said.taken.empty()) parts.push_back("taken " + said.taken);
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string xmp_sidecar(const Said& said) {
  std::string out =
      "<?xpacket begin=\"\xEF\xBB\xBF\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n"
      "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\" x:xmptk=\"Millrace\">\n"
      " <rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\n"
      "  <rdf:Description rdf:about=\"\"\n"
      "    xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\"\n"
      "    xmlns:dc=\"http://purl.org/dc/elements/1.1/\"\n"
      "    xmlns:exif=\"http://ns.adobe.com/exif/1.0/\"\n"
      "    xmlns:photoshop=\"http://ns.adobe.com/photoshop/1.0/\"\n"
      "    xmlns:Iptc4xmpExt=\"http://iptc.org/std/Iptc4xmpExt/2008-02-29/\"";
  const auto property = [&](const char* name, const std::string& value) {
    out += fmt::format("\n    {}=\"{}\"", name, in_xml(value));
  };
  if (said.rating != 0) property("xmp:Rating", std::to_string(said.rating));
  if (!said.taken.empty()) {
    property("exif:DateTimeOriginal", said.taken);
    property("photoshop:DateCreated", said.taken);
  }
  if (said.place) {
    property("exif:GPSLatitude", in_minutes(said.place->latitude, "NS"));
    property("exif:GPSLongitude", in_minutes(said.place->longitude, "EW"));
    property("exif:GPSVersionID", "2.3.0.0");
  }
  out += ">\n";
  const auto in_default_language = [&](const char* name, const std::string& text) {
    if (text.empty()) return;
    out += fmt::format(
        "   <{0}>\n    <rdf:Alt>\n     <rdf:li xml:lang=\"x-default\">{1}</rdf:li>\n    </rdf:Alt>\n   </{0}>\n", name,
        in_xml(text));
  };
  const auto bag = [&](const char* name, const std::vector<std::string>& words) {
    if (words.empty()) return;
    out += fmt::format("   <{}>\n    <rdf:Bag>\n", name);
    for (const std::string& word : words) out += fmt::format("     <rdf:li>{}</rdf:li>\n", in_xml(word));
    out += fmt::format("    </rdf:Bag>\n   </{}>\n", name);
  };
  in_default_language("dc:title", said.title);
  in_default_language("dc:description", said.description);
  bag("dc:subject", said.keywords);
  bag("Iptc4xmpExt:PersonInImage", said.people);
  return out + "  </rdf:Description>\n </rdf:RDF>\n</x:xmpmeta>\n<?xpacket end=\"w\"?>\n";
}

}  // namespace millrace
