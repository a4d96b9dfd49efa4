#include <fmt/format.h>

#include <cmath>

#include "src/base/text.h"
#include "src/io/image/photo_metadata_fields.h"

namespace millrace {
namespace {

using Form = MetadataTextField::Form;

constexpr std::string_view kBegin =
    "<?xpacket begin=\"\xEF\xBB\xBF\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n"
    "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\" x:xmptk=\"Millrace\">\n";

std::string escape_xml(std::string_view text) {
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

// Formats as "52,30.508333N": six decimals of a minute are 2 mm.
std::string format_minutes(double degrees, const char* sides) {
  const double all = std::fabs(degrees);
  auto whole = static_cast<int>(all);
  double minutes = std::round((all - whole) * 60e6) / 1e6;
  if (minutes >= 60) {
    ++whole;
    minutes = 0;
  }
  return fmt::format("{},{:.6f}{}", whole, minutes, sides[degrees < 0 ? 1 : 0]);
}

}  // namespace

bool is_own_xmp_sidecar(std::string_view text) { return text.starts_with(kBegin); }

std::string make_xmp_sidecar(const PhotoMetadata& metadata) {
  std::string out(kBegin);
  out +=
      " <rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\n"
      "  <rdf:Description rdf:about=\"\"\n"
      "    xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\"\n"
      "    xmlns:dc=\"http://purl.org/dc/elements/1.1/\"\n"
      "    xmlns:exif=\"http://ns.adobe.com/exif/1.0/\"\n"
      "    xmlns:lr=\"http://ns.adobe.com/lightroom/1.0/\"\n"
      "    xmlns:photoshop=\"http://ns.adobe.com/photoshop/1.0/\"\n"
      "    xmlns:Iptc4xmpCore=\"http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/\"\n"
      "    xmlns:Iptc4xmpExt=\"http://iptc.org/std/Iptc4xmpExt/2008-02-29/\"";
  const auto property = [&](const char* name, const std::string& value) {
    out += fmt::format("\n    {}=\"{}\"", name, escape_xml(value));
  };
  if (metadata.rating != 0) property("xmp:Rating", std::to_string(metadata.rating));
  for (const MetadataTextField& text : kMetadataTextFields) {
    if (text.form == Form::attribute && !(metadata.*text.metadata).empty())
      property(text.property, metadata.*text.metadata);
  }
  if (!metadata.taken.empty()) {
    property("exif:DateTimeOriginal", metadata.taken);
    property("photoshop:DateCreated", metadata.taken);
  }
  if (metadata.place) {
    property("exif:GPSLatitude", format_minutes(metadata.place->latitude, "NS"));
    property("exif:GPSLongitude", format_minutes(metadata.place->longitude, "EW"));
    property("exif:GPSVersionID", "2.3.0.0");
  }
  out += ">\n";
  const auto list = [&](const char* name, const char* kind, const char* item, const std::vector<std::string>& words) {
    if (words.empty()) return;
    out += fmt::format("   <{}>\n    <rdf:{}>\n", name, kind);
    for (const std::string& word : words) out += fmt::format("     <{}>{}</rdf:li>\n", item, escape_xml(word));
    out += fmt::format("    </rdf:{}>\n   </{}>\n", kind, name);
  };
  for (const MetadataTextField& text : kMetadataTextFields) {
    const std::string& words = metadata.*text.metadata;
    if (words.empty() || text.form == Form::attribute) continue;
    if (text.form == Form::languages) {
      list(text.property, "Alt", "rdf:li xml:lang=\"x-default\"", {words});
    } else {
      std::vector<std::string> each;
      for (const std::string& word : split(words, ';')) each.emplace_back(trim(word));
      list(text.property, "Seq", "rdf:li", each);
    }
  }
  for (const MetadataListField& words : kMetadataListFields)
    list(words.property, "Bag", "rdf:li", metadata.*words.metadata);
  return out + "  </rdf:Description>\n </rdf:RDF>\n</x:xmpmeta>\n<?xpacket end=\"w\"?>\n";
}

}  // namespace millrace
