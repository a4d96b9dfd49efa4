#include "src/io/image/metadata/xmp.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "src/base/text.h"
#include "src/io/image/metadata/editing_software.h"
#include "src/io/image/metadata/xml_tokens.h"
#include "src/io/image/metadata/xmp_namespaces.h"

namespace millrace {
namespace {

// Limit on the depth of elements. Deeper elements belong to none of the properties that are read here.
constexpr std::size_t kMaxDepth = 32;
// Limits: words of a list, bytes of a word, bytes of a text.
constexpr std::size_t kMaxXmpWords = 4096, kMaxXmpWordBytes = 4096, kMaxXmpTextBytes = 1 << 16;

// Texts that occur once, as a property, or as a property's list of one text per language.
struct XmpTextField {
  std::string_view name;
  std::string XmpWords::*text;
};
constexpr std::array kTexts = {XmpTextField{"dc:title", &XmpWords::title},
                               XmpTextField{"dc:description", &XmpWords::description},
                               XmpTextField{"dc:rights", &XmpWords::rights},
                               XmpTextField{"xmp:Label", &XmpWords::label},
                               XmpTextField{"xap:Label", &XmpWords::label},
                               XmpTextField{"Iptc4xmpCore:Location", &XmpWords::location},
                               XmpTextField{"photoshop:City", &XmpWords::city},
                               XmpTextField{"photoshop:State", &XmpWords::state},
                               XmpTextField{"photoshop:Country", &XmpWords::country},
                               XmpTextField{"exif:GPSLatitude", &XmpWords::latitude},
                               XmpTextField{"exif:GPSLongitude", &XmpWords::longitude},
                               XmpTextField{"exif:DateTimeOriginal", &XmpWords::taken},
                               XmpTextField{"photoshop:DateCreated", &XmpWords::created}};

bool is_blank(std::string_view text) { return trim(text).empty(); }

// True for a setting of a RAW developer. Properties that only describe the file are none.
bool is_setting(std::string_view name) {
  return name.starts_with("crs:") && name != "crs:RawFileName" && name != "crs:HasSettings" &&
         name != "crs:AlreadyApplied";
}

class XmpReader {
 public:
  XmpFacts read(std::string_view packet) {
    XmlTokens tokens(packet);
    for (auto token = tokens.next(); token.kind != XmlTokens::Kind::end; token = tokens.next()) {
      switch (token.kind) {
        case XmlTokens::Kind::open:
          open(token);
          if (token.is_self_closing) close();
          break;
        case XmlTokens::Kind::close:
          close();
          break;
        default:
          if (too_deep_ == 0 && !path_.empty()) text(token);
      }
    }
    facts_.words.unparsed = odd_ || tokens.has_doctype() || (facts_.packet && !whole_);
    return finish();
  }

 private:
  struct Element {
    std::string name;
    std::string text;               // complete, except for blank text before it
    bool default_language = false;  // the item of a list by languages is in "x-default"
  };

  // The open item of a list of structures: a region of the picture, or an event of its history.
  struct Item {
    std::size_t depth = 0;  // 0: no item is open
    std::string person, kind, agent, changed;
  };

  // Depth below rdf:RDF. Its child rdf:Description has level 1, and the properties have level 2.
  std::size_t level() const { return rdf_ == 0 ? 0 : path_.size() - rdf_; }
  std::string_view property() const {
    return level() >= 2 ? std::string_view(path_[rdf_ + 1].name) : std::string_view();
  }
  // Name of the element whose value is the list: the one around rdf:Bag and rdf:li.
  std::string_view list() const {
    return path_.size() >= 3 && path_.back().name == "rdf:li" ? std::string_view(path_[path_.size() - 3].name)
                                                              : std::string_view();
  }

  // Appends to the element's text, which comments and CDATA split into several tokens.
  void text(const XmlTokens::Token& token) {
    std::string& all = path_.back().text;
    if (all.size() > kMaxXmpTextBytes || (all.empty() && is_blank(token.text))) return;
    all += token.is_cdata ? std::string(token.text) : decode_xml_text(token.text);
    odd_ = odd_ || (!token.is_cdata && has_other_entity(token.text));
  }

  void open(const XmlTokens::Token& token) {
    if (too_deep_ > 0 || path_.size() == kMaxDepth) {
      ++too_deep_;
      return;
    }
    names_.open(token.text, path_.size() + 1);
    path_.push_back({names_.resolve_element_name(token.name), {}});
    if (path_.back().name == "rdf:RDF" && rdf_ == 0) {
      rdf_ = path_.size();
      facts_.packet = true;
      whole_ = false;
    }
    const bool region = list() == "mwg-rs:RegionList" && property() == "mwg-rs:Regions";
    const bool event = list() == "xmpMM:History" && level() == 4;
    if (item_.depth == 0 && (region || event)) item_ = {path_.size(), {}, {}, {}, {}};
    for (XmlAttributes attributes(token.text); attributes.next();) {
      const std::string name = names_.resolve_attribute_name(attributes.name());
      if (name == "xml:lang") path_.back().default_language = attributes.value() == "x-default";
      odd_ = odd_ || has_other_entity(attributes.value());
      if (name == "rdf:value" && level() >= 2) path_.back().text = decode_xml_text(attributes.value());
      value(name, decode_xml_text(attributes.value()), level() + 1);
    }
  }

  void close() {
    if (too_deep_ > 0) {
      --too_deep_;
      return;
    }
    if (path_.empty()) return;
    const std::string text = std::move(path_.back().text);
    // A value that has qualifiers is inside rdf:value or rdf:Description; it is the value of the element around it.
    if ((path_.back().name == "rdf:value" || path_.back().name == "rdf:Description") && level() > 2) {
      if (is_blank(path_[path_.size() - 2].text)) path_[path_.size() - 2].text = text;
    } else if (path_.back().name == "rdf:li" && level() == 4) {
      list_item(text, path_.back().default_language);
    } else {
      value(path_.back().name, text, level());
    }
    if (item_.depth == path_.size()) close_item();
    if (rdf_ == path_.size()) {
      rdf_ = 0;
      whole_ = true;
    }
    names_.close(path_.size());
    path_.pop_back();
  }

  // Takes an item of a property's own list.
  void list_item(std::string_view text, bool default_language) {
    const std::string_view name = property();
    if (name == "darktable:history") facts_.developed = true;
    if (is_blank(text)) return;
    XmpWords& words = facts_.words;
    if (name == "dc:subject") add(text, words.subjects);
    if (name == "lr:hierarchicalSubject") add(text, words.keyword_paths);
    if (name == "digiKam:TagsList" || name == "MicrosoftPhoto:LastKeywordXMP") add(text, words.tags);
    if (name == "Iptc4xmpExt:PersonInImage") add(text, words.persons);
    if (name == "dc:creator") creator(text);
    set(name, text, default_language);
    if (name == "darktable:colorlabels") facts_.colour_label = true;
  }

  // Takes an attribute, or an element with a text. Below a property only the items of lists count: a composed picture
  // stores the metadata of its parts there.
  void value(std::string_view name, const std::string& text, std::size_t level) {
    if (level == 2) return property_value(name, text);
    if (level < 2) return;
    if (item_.depth > 0) {
      if (name == "mwg-rs:Name") item_.person = text;
      if (name == "mwg-rs:Type") item_.kind = text;
      if (name == "stEvt:softwareAgent") item_.agent = text;
      if (name == "stEvt:changed") item_.changed = text;
    }
    if (name == "MPReg:PersonDisplayName" && property().starts_with("MP:") && !is_blank(text))
      add(text, facts_.words.faces);
  }

  std::string cut(std::string_view text, std::size_t longest) {
    if (text.size() > longest) facts_.words.cut = true;
    return std::string(text.substr(0, longest));
  }
  void add(std::string_view text, std::vector<std::string>& words) {
    if (words.size() < kMaxXmpWords) {
      words.push_back(cut(trim(text), kMaxXmpWordBytes));
    } else {
      facts_.words.cut = true;
    }
  }
  void creator(std::string_view text) {
    std::string& all = facts_.words.creator;
    if (all.size() + text.size() > kMaxXmpTextBytes) {
      facts_.words.cut = true;
      return;
    }
    if (!all.empty()) all += "; ";
    all += trim(text);
  }
  void set(std::string_view name, std::string_view text, bool default_language) {
    if (name == "dc:description" && is_default_description(text)) return;
    if (name == "dc:title") facts_.title = true;
    if (name == "dc:description") facts_.description = true;
    for (std::size_t i = 0; i < kTexts.size(); ++i) {
      if (kTexts[i].name != name) continue;
      std::string& content = facts_.words.*kTexts[i].text;
      if (!content.empty() && (!default_language || in_default_[i])) return;
      content = cut(text, kMaxXmpTextBytes);
      in_default_[i] = default_language;
    }
  }

  void property_value(std::string_view name, const std::string& untrimmed) {
    const std::string text(trim(untrimmed));
    // The prefix "xap" is that of XMP's own properties before 2004.
    if (name == "xmp:Rating" || name == "xap:Rating") {
      const auto rating = parse_rating(text);
      if (rating) facts_.rating = rating;
      odd_ = odd_ || (!rating && !text.empty());
    }
    if (is_setting(name)) settings_ = true;
    if (name == "crs:AlreadyApplied" && lower_ascii(text) == "true") applied_ = true;
    if (name == "crs:HasSettings" && lower_ascii(text) == "false") no_settings_ = true;
    if (text.empty()) return;
    if ((name == "xmp:Label" || name == "xap:Label") && lower_ascii(text) != "none") facts_.colour_label = true;
    if (name == "digiKam:ColorLabel" && text != "0") facts_.colour_label = true;
    if (name == "xmp:CreatorTool" || name == "xap:CreatorTool") facts_.creator_tool = text;
    if (name == "aux:SerialNumber" || name == "exifEX:BodySerialNumber") facts_.serial = text;
    if (name == "xmpNote:HasExtendedXMP") facts_.words.cut = true;
    if (name == "dc:creator") creator(text);
    set(name, text, false);
  }

  void close_item() {
    const std::string kind = lower_ascii(trim(item_.kind));
    if (!is_blank(item_.person) && (kind.empty() || kind == "face")) add(item_.person, facts_.words.regions);
    // Catalog programs write metadata into a picture, and record a change of "/metadata" in its history. That is no
    // edit.
    if (is_editor_name(item_.agent) && trim(item_.changed) != "/metadata") facts_.edited = true;
    item_ = {};
  }

  XmpFacts finish() {
    const auto longest = [](const auto&... lists) { return static_cast<std::uint32_t>(std::max({lists.size()...})); };
    const XmpWords& words = facts_.words;
    facts_.keywords = longest(words.subjects, words.keyword_paths, words.tags);
    facts_.people = longest(words.persons, words.regions, words.faces);
    facts_.gps = !words.latitude.empty() && !words.longitude.empty();
    if (applied_) {
      facts_.edited = true;
    } else if (settings_ && !no_settings_) {
      facts_.developed = true;
    }
    return facts_;
  }

  XmpFacts facts_;
  std::array<bool, kTexts.size()> in_default_{};  // texts that are in the default language
  std::vector<Element> path_;
  XmpNamespaces names_;
  bool whole_ = false, odd_ = false;  // whole_: rdf:RDF was closed; odd_: something was not understood
  std::size_t too_deep_ = 0;          // number of open elements below the depth limit
  std::size_t rdf_ = 0;               // length of the path at rdf:RDF; 0 outside
  Item item_;
  bool settings_ = false, applied_ = false, no_settings_ = false;
};

}  // namespace

XmpFacts read_xmp(std::string_view packet) { return XmpReader().read(packet); }

std::optional<int> parse_rating(std::string_view text) {
  text = trim(text);
  int rating = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), rating);
  if (problem != std::errc() || rating < -1 || rating > 5) return std::nullopt;
  const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (!rest.empty() && (rest[0] != '.' || rest.find_first_not_of('0', 1) != std::string_view::npos))
    return std::nullopt;
  return rating;
}

}  // namespace millrace
