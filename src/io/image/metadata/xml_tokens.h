// Input: XML that programs wrote.
// Output: its tags, attributes and texts, one after the other.
// Never: validates the XML; evaluates document types or their entities; reads a byte more than twice.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace millrace {

// Splits XML into tokens. Their views point into the text, which must outlive them.
class XmlTokens {
 public:
  enum class Kind : std::uint8_t { end, open, close, text };
  struct Token {
    Kind kind = Kind::end;
    std::string_view name;         // open and close: the name with its prefix
    std::string_view text;         // text: entities not replaced; open: the attributes
    bool is_self_closing = false;  // open: <a/>, no close follows
    bool is_cdata = false;         // text: CDATA, which has no entities
  };

  explicit XmlTokens(std::string_view text) : left_(text) {}
  // Comments, instructions and declarations are skipped. An incomplete tag counts as the end.
  Token next();
  // True when a document type was skipped: its declarations are not evaluated.
  bool has_doctype() const { return declares_; }

 private:
  bool skip_past(std::string_view begin, std::string_view end);
  Token read_tag();

  std::string_view left_;
  bool declares_ = false;
};

class XmlAttributes {
 public:
  explicit XmlAttributes(std::string_view text) : left_(text) {}
  // Moves to the next attribute; false when there are no more.
  bool next();
  std::string_view name() const { return name_; }
  std::string_view value() const { return value_; }  // entities not replaced

 private:
  std::string_view left_, name_, value_;
};

// Returns the text in UTF-8, with XML's five entities and character numbers replaced; other entities are unchanged.
std::string decode_xml_text(std::string_view text);
// True where the text has any other entity, such as "&nbsp;".
bool has_other_entity(std::string_view text);

}  // namespace millrace
