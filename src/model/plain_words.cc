#include <fmt/format.h>

#include <cctype>
#include <regex>

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

}  // namespace

std::string plain_words(const std::string& what, const OnnxFile& onnx) {
  // "Exception from src/x.cpp:12:", "Check 'a == b' failed at src/y.hpp:34:", and places alone.
  static const std::regex places(
      R"((Exception from |Check '[^\n]*' failed at )?\S+\.(cpp|hpp|h|cc|c):\d+:?|FrontEnd API failed with \w+:|Summary:|-- )");
  static const std::regex spaces(R"(\s+)");
  constexpr std::size_t kMost = 400;
  // An expression is matched by recursion: what is longer is cut first.
  std::string out = std::regex_replace(what.substr(0, 4 * kMost), places, " ");
  out = std::string(trim(std::regex_replace(out, spaces, " ")));
  if (out.size() > kMost) out = out.substr(0, kMost) + " ...";
  if (out.empty()) out = "the model cannot be run";
  const auto says = [&](const char* words) { return out.find(words) != std::string::npos; };
  if (says("not support") || says("unsupported") || says("No conversion rule")) {
    std::string nodes;
    for (const auto& [kind, name] : onnx.operators) {
      if (is_word_of(kind, out)) nodes += fmt::format("; {} is the node '{}'", kind, name);
    }
    out += nodes;
  }
  return printable(out);
}

}  // namespace millrace::model
