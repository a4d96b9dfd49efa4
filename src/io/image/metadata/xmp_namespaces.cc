#include "src/io/image/metadata/xmp_namespaces.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "src/base/text.h"
#include "src/io/image/metadata/xml_tokens.h"

namespace millrace {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 24> kUsual = {{
    {"http://www.w3.org/1999/02/22-rdf-syntax-ns#", "rdf"},
    {"http://ns.adobe.com/xap/1.0/", "xmp"},
    {"http://purl.org/dc/elements/1.1/", "dc"},
    {"http://ns.adobe.com/lightroom/1.0/", "lr"},
    {"http://www.digikam.org/ns/1.0/", "digiKam"},
    {"http://ns.microsoft.com/photo/1.0", "MicrosoftPhoto"},
    {"http://ns.microsoft.com/photo/1.0/", "MicrosoftPhoto"},
    {"http://ns.microsoft.com/photo/1.2/", "MP"},
    {"http://ns.microsoft.com/photo/1.2/t/RegionInfo#", "MPRI"},
    {"http://ns.microsoft.com/photo/1.2/t/Region#", "MPReg"},
    {"http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/", "Iptc4xmpCore"},
    {"http://iptc.org/std/Iptc4xmpExt/2008-02-29/", "Iptc4xmpExt"},
    {"http://ns.adobe.com/photoshop/1.0/", "photoshop"},
    {"http://ns.adobe.com/exif/1.0/", "exif"},
    {"http://cipa.jp/exif/1.0/", "exifEX"},
    {"http://ns.adobe.com/exif/1.0/aux/", "aux"},
    {"http://ns.adobe.com/camera-raw-settings/1.0/", "crs"},
    {"http://www.metadataworkinggroup.com/schemas/regions/", "mwg-rs"},
    {"http://ns.adobe.com/xap/1.0/mm/", "xmpMM"},
    {"http://ns.adobe.com/xap/1.0/sType/ResourceEvent#", "stEvt"},
    {"http://ns.adobe.com/xmp/note/", "xmpNote"},
    {"http://darktable.sf.net/", "darktable"},
    {"http://ns.adobe.com/tiff/1.0/", "tiff"},
    {"adobe:ns:meta/", "x"},
}};

}  // namespace

void XmpNamespaces::open(std::string_view attributes, std::size_t depth) {
  constexpr std::string_view kDeclares = "xmlns";
  if (attributes.find(kDeclares) == std::string_view::npos) return;
  for (XmlAttributes each(attributes); each.next();) {
    std::string_view prefix = each.name();
    if (!prefix.starts_with(kDeclares)) continue;
    prefix.remove_prefix(kDeclares.size());
    if (!prefix.empty() && prefix[0] != ':') continue;
    if (!prefix.empty()) prefix.remove_prefix(1);
    const auto entry = std::find_if(kUsual.begin(), kUsual.end(),
                                    [&](const auto& usual) { return usual.first == trim(each.value()); });
    // A usual prefix needs no alias, unless an element around it uses the prefix for another namespace.
    const bool as_usual = entry != kUsual.end() && entry->second == prefix;
    const bool shadows =
        std::any_of(aliases_.begin(), aliases_.end(), [&](const Alias& a) { return a.prefix == prefix; });
    if (as_usual && !shadows) continue;
    if (entry == kUsual.end() && !shadows && !prefix.empty()) continue;
    aliases_.push_back({prefix, entry == kUsual.end() ? prefix : entry->second, depth});
  }
}

void XmpNamespaces::close(std::size_t depth) {
  while (!aliases_.empty() && aliases_.back().depth >= depth) aliases_.pop_back();
}

std::string XmpNamespaces::resolve_element_name(std::string_view name) const {
  const std::size_t colon = name.find(':');
  const std::string_view prefix = colon == std::string_view::npos ? std::string_view() : name.substr(0, colon);
  const auto alias =
      std::find_if(aliases_.rbegin(), aliases_.rend(), [&](const Alias& a) { return a.prefix == prefix; });
  std::string out(name);
  if (alias != aliases_.rend() && !alias->usual.empty()) {
    out = alias->usual;
    out += ':';
    out.append(colon == std::string_view::npos ? name : name.substr(colon + 1));
  }
  // RDF also allows numbered items of a list (rdf:_1) instead of rdf:li.
  return out.starts_with("rdf:_") ? "rdf:li" : out;
}

std::string XmpNamespaces::resolve_attribute_name(std::string_view name) const {
  return name.find(':') == std::string_view::npos ? std::string(name) : resolve_element_name(name);
}

}  // namespace millrace
