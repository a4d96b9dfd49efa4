// Input: texts of pictures and sidecar files, in any encoding.
// Output: the list of a Said's fields with their locations in the metadata, and the conversion of texts to valid
// fields.
// Never: used by other code; said.h is the interface.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "src/io/image/metadata/xmp.h"
#include "src/io/image/said.h"

namespace millrace {

inline constexpr std::size_t kLongestWord = 2000, kLongestDescription = 20'000;

// A field with a single text: its name, and its locations in XMP, IPTC and EXIF.
struct SaidText {
  enum class Form : std::uint8_t { attribute, languages, sequence };

  std::string Said::*said;
  std::string XmpWords::*xmp;
  const char *name, *property;
  Form form = Form::attribute;
  std::uint8_t iptc = 0;   // number of a dataset of record 2; 0: none
  std::uint16_t exif = 0;  // field of the main directory; 0: none
  std::size_t longest = kLongestWord;
};
inline constexpr std::array kSaidTexts = {
    SaidText{&Said::title, &XmpWords::title, "title", "dc:title", SaidText::Form::languages, 5},
    SaidText{&Said::description, &XmpWords::description, "description", "dc:description", SaidText::Form::languages,
             120, 0x010E, kLongestDescription},
    SaidText{&Said::label, &XmpWords::label, "label", "xmp:Label"},
    SaidText{&Said::location, &XmpWords::location, "location", "Iptc4xmpCore:Location", SaidText::Form::attribute, 92},
    SaidText{&Said::city, &XmpWords::city, "city", "photoshop:City", SaidText::Form::attribute, 90},
    SaidText{&Said::state, &XmpWords::state, "state", "photoshop:State", SaidText::Form::attribute, 95},
    SaidText{&Said::country, &XmpWords::country, "country", "photoshop:Country", SaidText::Form::attribute, 101},
    SaidText{&Said::creator, &XmpWords::creator, "creator", "dc:creator", SaidText::Form::sequence, 80, 0x013B},
    SaidText{&Said::rights, &XmpWords::rights, "rights", "dc:rights", SaidText::Form::languages, 116, 0x8298},
};

// A field that is a list of words.
struct SaidList {
  std::vector<std::string> Said::*said;
  const char *name, *property;
};
inline constexpr std::array kSaidLists = {
    SaidList{&Said::keywords, "keywords", "dc:subject"},
    SaidList{&Said::branches, "keywords of a tree", "lr:hierarchicalSubject"},
    SaidList{&Said::people, "people", "Iptc4xmpExt:PersonInImage"},
};

// Converts to UTF-8 without characters that XML cannot hold. A longer text is cut between characters, and sets `cut`.
std::string clean_text(std::string_view bytes, std::size_t longest, bool& cut);
// Adds a word to a list that does not have it yet. Sets `cut` where the list is full, or the word is too long.
void add_word(std::string_view bytes, std::vector<std::string>& words, bool& cut);

}  // namespace millrace
