// Input: what pictures and sidecars say, in whatever encoding.
// Output: the words of a Said: which there are, where each stands, and how it is made fit to be one.
// Never: part of what others use: said.h is.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "src/io/image/metadata/xmp.h"
#include "src/io/image/said.h"

namespace millrace {

inline constexpr std::size_t kLongestWord = 2000, kLongestDescription = 20'000;

// Of what is said once: what it is called, and where it stands in XMP, IPTC and EXIF.
struct SaidText {
  enum class Form : std::uint8_t { attribute, languages, sequence };

  std::string Said::*said;
  std::string XmpWords::*xmp;
  const char *name, *property;
  Form form = Form::attribute;
  std::uint8_t iptc = 0;   // the number of a dataset of record 2; 0: none
  std::uint16_t exif = 0;  // a field of the main directory; 0: none
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

// Of what is said in lists.
struct SaidList {
  std::vector<std::string> Said::*said;
  const char *name, *property;
};
inline constexpr std::array kSaidLists = {
    SaidList{&Said::keywords, "keywords", "dc:subject"},
    SaidList{&Said::branches, "keywords of a tree", "lr:hierarchicalSubject"},
    SaidList{&Said::people, "people", "Iptc4xmpExt:PersonInImage"},
};

// UTF-8 without what XML cannot hold, cut between characters; `cut` is set where it was.
std::string clean_text(std::string_view bytes, std::size_t longest, bool& cut);
// One more of a list that has it not yet; `cut` is set where there is no room for it or for all of it.
void add_word(std::string_view bytes, std::vector<std::string>& words, bool& cut);

}  // namespace millrace
