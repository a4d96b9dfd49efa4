#include "src/io/image/metadata/xml_tokens.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "src/base/text.h"

namespace millrace {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

std::string_view take_front(std::string_view& from, std::size_t count) {
  const std::string_view taken = from.substr(0, count);
  from.remove_prefix(taken.size());
  return taken;
}

}  // namespace

// Skips everything up to and including `end`, if the text starts with `begin`; otherwise returns false.
bool XmlTokens::skip_past(std::string_view begin, std::string_view end) {
  if (!left_.starts_with(begin)) return false;
  const std::size_t at = left_.find(end, begin.size());
  left_.remove_prefix(at == std::string_view::npos ? left_.size() : at + end.size());
  return true;
}

XmlTokens::Token XmlTokens::next() {
  constexpr std::string_view kLiteral = "<![CDATA[", kLiteralEnd = "]]>";
  while (!left_.empty()) {
    if (left_[0] != '<') return {Kind::text, {}, take_front(left_, left_.find('<'))};
    if (left_.starts_with(kLiteral)) {
      left_.remove_prefix(kLiteral.size());
      const std::string_view text = take_front(left_, left_.find(kLiteralEnd));
      take_front(left_, kLiteralEnd.size());
      return {Kind::text, {}, text, false, true};
    }
    if (skip_past("<!--", "-->") || skip_past("<?", "?>")) continue;
    if (skip_past("<!", ">")) {
      declares_ = true;
      continue;
    }
    return read_tag();
  }
  return {};
}

XmlTokens::Token XmlTokens::read_tag() {
  // A quoted value may contain the bracket that ends a tag.
  std::size_t end = 1;
  for (char quote = 0; end < left_.size() && (quote != 0 || left_[end] != '>'); ++end) {
    if (quote != 0) {
      if (left_[end] == quote) quote = 0;
    } else if (left_[end] == '"' || left_[end] == '\'') {
      quote = left_[end];
    }
  }
  if (end == left_.size()) {
    left_ = {};
    return {};
  }
  std::string_view inside = take_front(left_, end + 1).substr(1, end - 1);
  Token token{Kind::open, {}, {}};
  if (inside.starts_with('/')) {
    token.kind = Kind::close;
    inside.remove_prefix(1);
  } else if (inside.ends_with('/')) {
    token.is_self_closing = true;
    inside.remove_suffix(1);
  }
  token.name = take_front(inside, inside.find_first_of(kBlank));
  token.text = inside;
  return token;
}

bool XmlAttributes::next() {
  const std::size_t equals = left_.find('=');
  if (equals == std::string_view::npos) return false;
  name_ = trim(take_front(left_, equals));
  take_front(left_, 1);
  take_front(left_, std::min(left_.find_first_not_of(kBlank), left_.size()));
  if (left_.empty() || (left_[0] != '"' && left_[0] != '\'')) return false;
  const char quote = take_front(left_, 1)[0];
  const std::size_t end = left_.find(quote);
  if (end == std::string_view::npos) return false;
  value_ = take_front(left_, end);
  take_front(left_, 1);
  return true;
}

namespace {

constexpr std::array<std::pair<std::string_view, char>, 5> kNamed = {
    {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}}};

}  // namespace

bool has_other_entity(std::string_view text) {
  for (std::size_t at = text.find('&'); at != std::string_view::npos; at = text.find('&', at + 1)) {
    const std::size_t end = text.find_first_of(";&< \t\r\n", at + 1);
    if (end == std::string_view::npos || text[end] != ';' || end == at + 1 || text[at + 1] == '#') continue;
    const std::string_view name = text.substr(at + 1, end - at - 1);
    if (std::none_of(kNamed.begin(), kNamed.end(), [&](const auto& n) { return n.first == name; })) return true;
  }
  return false;
}

std::string decode_xml_text(std::string_view text) {
  constexpr std::size_t kMaxEntityLength = 9;  // a longer reference than "#00000000" is not replaced
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    out += take_front(text, text.find('&'));
    const std::size_t end = text.substr(0, kMaxEntityLength + 2).find(';');
    if (text.empty() || end == std::string_view::npos) {
      out += take_front(text, 1);
      continue;
    }
    const std::string_view name = text.substr(1, end - 1);
    const auto named = std::find_if(kNamed.begin(), kNamed.end(), [&](const auto& n) { return n.first == name; });
    std::string replacement = named == kNamed.end() ? "" : std::string(1, named->second);
    if (name.starts_with('#')) {
      const bool hex = name.starts_with("#x");
      const std::string_view digits = name.substr(hex ? 2 : 1);
      std::uint32_t number = 0;
      const auto [last, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number, hex ? 16 : 10);
      if (problem == std::errc() && last == digits.data() + digits.size()) replacement = encode_utf8(number);
    }
    if (replacement.empty()) {
      out += take_front(text, 1);
    } else {
      out += replacement;
      take_front(text, end + 1);
    }
  }
  return out;
}

}  // namespace millrace
