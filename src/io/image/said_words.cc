#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/base/text.h"
#include "src/io/image/said_fields.h"

namespace millrace {
namespace {

constexpr std::size_t kMostSaid = 1000;

// Converts bytes of an unknown encoding: valid UTF-8 is kept, anything else is read as Latin-1.
std::string as_utf8(std::string_view bytes) {
  if (is_utf8(bytes)) return std::string(bytes);
  std::string out;
  for (const char c : bytes) out += c == '\0' ? std::string(1, c) : utf8_of(static_cast<unsigned char>(c));
  return out;
}

bool near(const Said::Place& a, const Said::Place& b) {
  constexpr double kDegrees = 1e-4;  // some ten metres: programs round
  return std::fabs(a.latitude - b.latitude) < kDegrees && std::fabs(a.longitude - b.longitude) < kDegrees;
}

}  // namespace

std::string clean_text(std::string_view bytes, std::size_t longest, bool& cut) {
  std::string text = as_utf8(bytes);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto code = static_cast<unsigned char>(text[i]);
    if (code < 0x20 || code == 0x7F) text[i] = ' ';
    // Terminals interpret U+0080 to U+009F as they do an escape character.
    if (code == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0) text.replace(i, 2, " ");
  }
  for (const char* non_character : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (std::size_t at = text.find(non_character); at != std::string::npos; at = text.find(non_character, at))
      text.erase(at, 3);
  }
  std::string_view kept = trim(text);
  if (kept.size() > longest) {
    cut = true;
    std::size_t end = longest;
    while (end > 0 && (static_cast<unsigned char>(kept[end]) & 0xC0) == 0x80) --end;
    kept = trim(kept.substr(0, end));
  }
  return std::string(kept);
}

void add_word(std::string_view bytes, std::vector<std::string>& words, bool& cut) {
  std::string word = clean_text(bytes, kLongestWord, cut);
  if (word.empty() || (cut && words.size() >= kMostSaid)) return;
  const std::string lower = lower_ascii(word);
  if (std::any_of(words.begin(), words.end(), [&](const std::string& w) { return lower_ascii(w) == lower; })) return;
  if (words.size() < kMostSaid) {
    words.push_back(std::move(word));
  } else {
    cut = true;
  }
}

bool Said::nothing() const {
  return rating == 0 && !place && taken.empty() &&
         std::all_of(kSaidTexts.begin(), kSaidTexts.end(),
                     [&](const SaidText& t) { return (this->*t.said).empty(); }) &&
         std::all_of(kSaidLists.begin(), kSaidLists.end(), [&](const SaidList& l) { return (this->*l.said).empty(); });
}

void Said::add(const Said& other) {
  cut = cut || other.cut;
  favourite = favourite || other.favourite;
  developed = developed || other.developed;
  if (odd.empty()) odd = other.odd;
  if (rating == 0) rating = other.rating;
  for (const SaidList& list : kSaidLists) {
    for (const std::string& word : other.*list.said) add_word(word, this->*list.said, cut);
  }
  for (const SaidText& text : kSaidTexts) {
    if ((this->*text.said).empty()) this->*text.said = other.*text.said;
  }
  if (!place) place = other.place;
  if (taken.empty()) taken = other.taken;
}

Lacking lacking(const Said& of, const Said& from) {
  Lacking out;
  out.said.cut = from.cut;
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
  for (const SaidText& text : kSaidTexts) {
    const std::string &own = of.*text.said, &theirs = from.*text.said;
    either(
        !own.empty(), !theirs.empty(), own == theirs, [&] { out.said.*text.said = theirs; },
        text.longest > kLongestWord ? fmt::format("another {}", text.name)
                                    : fmt::format("{} \"{}\", not \"{}\"", text.name, own, theirs));
  }
  either(
      of.place.has_value(), from.place.has_value(), of.place && from.place && near(*of.place, *from.place),
      [&] { out.said.place = from.place; }, "another place");
  // Both may give the same moment with different precision.
  const std::size_t told = std::min({of.taken.size(), from.taken.size(), std::size_t{19}});
  either(
      !of.taken.empty(), !from.taken.empty(), told > 0 && of.taken.substr(0, told) == from.taken.substr(0, told),
      [&] { out.said.taken = from.taken; }, fmt::format("taken {}, not {}", of.taken, from.taken));
  for (const SaidList& list : kSaidLists) {
    std::vector<std::string> all = of.*list.said;
    const std::size_t own = all.size();
    for (const std::string& word : from.*list.said) add_word(word, all, out.said.cut);
    (out.said.*list.said).assign(all.begin() + static_cast<std::ptrdiff_t>(own), all.end());
  }
  return out;
}

std::string words_of(const Said& said) {
  std::vector<std::string> parts;
  if (said.rating != 0) parts.push_back(fmt::format("rating {}", said.rating));
  for (const SaidText& text : kSaidTexts) {
    const std::string& words = said.*text.said;
    if (!words.empty())
      parts.push_back(text.longest > kLongestWord ? text.name : fmt::format("{} \"{}\"", text.name, words));
  }
  for (const SaidList& list : kSaidLists) {
    constexpr std::size_t kShown = 5;
    const std::vector<std::string>& words = said.*list.said;
    if (words.empty()) continue;
    const auto end = words.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, words.size()));
    std::string text = fmt::format("{} {}", list.name, fmt::join(words.begin(), end, ", "));
    if (words.size() > kShown) text += fmt::format(" and {} more", words.size() - kShown);
    parts.push_back(std::move(text));
  }
  if (said.place) parts.emplace_back("place");
  if (!said.taken.empty()) parts.push_back("taken " + said.taken);
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace millrace
