#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <sstream>
#include <string_view>
#include <vector>

#include "src/base/text.h"
#include "src/model/session.h"

namespace millrace::model {
namespace {

bool is_word_of(const std::string& word, const std::string& text) {
  const auto letter = [&](std::size_t k) {
    return k < text.size() && (std::isalnum(static_cast<unsigned char>(text[k])) != 0 || text[k] == '_');
  };
  if (word.empty()) return false;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if ((at == 0 || !letter(at - 1)) && !letter(at + word.size())) return true;
  return false;
}

// True for a position in source code: "src/core/node.cpp:12:".
bool is_place(std::string_view word) {
  if (word.ends_with(':')) word.remove_suffix(1);
  const std::size_t colon = word.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == word.size()) return false;
  for (const char c : word.substr(colon + 1))
    if (c < '0' || c > '9') return false;
  const std::string_view file = word.substr(0, colon);
  return file.ends_with(".cpp") || file.ends_with(".hpp") || file.ends_with(".h") || file.ends_with(".cc") ||
         file.ends_with(".c");
}

bool ends_with(const std::vector<std::string>& words, std::initializer_list<std::string_view> last) {
  return words.size() >= last.size() &&
         std::equal(last.begin(), last.end(), words.end() - static_cast<std::ptrdiff_t>(last.size()));
}

}  // namespace

std::string clean_runtime_message(const std::string& what, const OnnxFile& onnx) {
  constexpr std::size_t kMaxCharacters = 400;
  std::vector<std::string> words;
  const auto drop = [&](std::size_t count) { words.resize(words.size() - std::min(words.size(), count)); };
  std::istringstream in(what.substr(0, 8 * kMaxCharacters));
  for (std::string word; in >> word;) {
    if (word == "Summary:" || word == "--") continue;
    if (is_place(word)) {
      // The phrases are "Exception from PLACE" and "Check 'a == b' failed at PLACE".
      if (ends_with(words, {"Exception", "from"})) {
        drop(2);
      } else if (ends_with(words, {"failed", "at"})) {
        const auto check = std::find(words.rbegin(), words.rend(), "Check");
        if (check != words.rend()) drop(static_cast<std::size_t>(check - words.rbegin()) + 1);
      }
      continue;
    }
    if (word.ends_with(':') && ends_with(words, {"FrontEnd", "API", "failed", "with"})) {
      drop(4);
      continue;
    }
    words.push_back(std::move(word));
  }
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  if (out.size() > kMaxCharacters) out = out.substr(0, kMaxCharacters) + " ...";
  if (out.empty()) out = "the model cannot be run";
  const auto contains = [&](const char* words) { return out.find(words) != std::string::npos; };
  if (contains("not support") || contains("unsupported") || contains("No conversion rule")) {
    std::string nodes;
    for (const auto& [kind, name] : onnx.operators) {
      if (is_word_of(kind, out)) nodes += fmt::format("; {} is the node '{}'", kind, name);
    }
    out += nodes;
  }
  return escape_unprintable(out);
}

}  // namespace millrace::model
