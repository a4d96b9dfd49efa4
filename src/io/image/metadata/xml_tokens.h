// Input: XML that programs wrote.
// Output: its tags, attributes and texts, one after the other.
// Never: checks it, follows a document type or an entity of its own, or looks at a byte more than twice.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace millrace {

// All views are into the text, which must outlive them.
class XmlTokens {
 public:
  enum class Kind : std::uint8_t { end, open, close, text };
  struct Token {
    Kind kind = Kind::end;
    std::string_view name;  // of open and close: with its prefix
    std::string_view text;  // of text: entities not replaced; of open: its attributes
    bool alone = false;     // of open: <a/>, no close follows
    bool literal = false;   // of text: CDATA, which has no entities
  };

  explicit XmlTokens(std::string_view text) : left_(text) {}
  // Comments, instructions and declarations are passed over. What breaks off in the middle is the end.
  Token next();
  // Whether a document type was passed over: what it declares is not known here.
  bool declares() const { return declares_; }

 private:
  bool pass_over(std::string_view begin, std::string_view end);
  Token tag();

  std::string_view left_;
  bool declares_ = false;
};

class XmlAttributes {
 public:
  explicit XmlAttributes(std::string_view text) : left_(text) {}
  // False when there are no more.
  bool next();
  std::string_view name() const { return name_; }
  std::string_view value() const { return value_; }  // entities not replaced

 private:
  std::string_view left_, name_, value_;
};

// With XML's five entities and numbers replaced, in UTF-8; others stay as they are.
std::string xml_text(std::string_view text);
// Whether it has an entity that is none of those, as "&nbsp;".
bool has_other_entity(std::string_view text);

}  // namespace millrace
