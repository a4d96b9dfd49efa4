// Input: texts of pictures and sidecar files, in any encoding.
// Output: the list of PhotoMetadata's fields with their locations in the metadata, and the conversion of texts to valid
// fields.
// Never: used by other code; photo_metadata.h is the interface.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "src/io/image/metadata/xmp.h"
#include "src/io/image/photo_metadata.h"

namespace millrace {

inline constexpr std::size_t kMaxWordBytes = 2000, kMaxDescriptionBytes = 20'000;

// A field with a single text: its name, and its locations in XMP, IPTC and EXIF.
struct MetadataTextField {
  enum class Form : std::uint8_t { attribute, languages, sequence };

  std::string PhotoMetadata::*metadata;
  std::string XmpWords::*xmp;
  const char *name, *property;
  Form form = Form::attribute;
  std::uint8_t iptc = 0;   // number of a dataset of record 2; 0: none
  std::uint16_t exif = 0;  // field of the main directory; 0: none
  std::size_t max_bytes = kMaxWordBytes;
};
inline constexpr std::array kMetadataTextFields = {
    MetadataTextField{&PhotoMetadata::title, &XmpWords::title, "title", "dc:title", MetadataTextField::Form::languages,
                      5},
    MetadataTextField{&PhotoMetadata::description, &XmpWords::description, "description", "dc:description",
                      MetadataTextField::Form::languages, 120, 0x010E, kMaxDescriptionBytes},
    MetadataTextField{&PhotoMetadata::label, &XmpWords::label, "label", "xmp:Label"},
    MetadataTextField{&PhotoMetadata::location, &XmpWords::location, "location", "Iptc4xmpCore:Location",
                      MetadataTextField::Form::attribute, 92},
    MetadataTextField{&PhotoMetadata::city, &XmpWords::city, "city", "photoshop:City",
                      MetadataTextField::Form::attribute, 90},
    MetadataTextField{&PhotoMetadata::state, &XmpWords::state, "state", "photoshop:State",
                      MetadataTextField::Form::attribute, 95},
    MetadataTextField{&PhotoMetadata::country, &XmpWords::country, "country", "photoshop:Country",
                      MetadataTextField::Form::attribute, 101},
    MetadataTextField{&PhotoMetadata::creator, &XmpWords::creator, "creator", "dc:creator",
                      MetadataTextField::Form::sequence, 80, 0x013B},
    MetadataTextField{&PhotoMetadata::rights, &XmpWords::rights, "rights", "dc:rights",
                      MetadataTextField::Form::languages, 116, 0x8298},
};

// A field that is a list of words.
struct MetadataListField {
  std::vector<std::string> PhotoMetadata::*metadata;
  const char *name, *property;
};
inline constexpr std::array kMetadataListFields = {
    MetadataListField{&PhotoMetadata::keywords, "keywords", "dc:subject"},
    MetadataListField{&PhotoMetadata::keyword_paths, "hierarchical keywords", "lr:hierarchicalSubject"},
    MetadataListField{&PhotoMetadata::people, "people", "Iptc4xmpExt:PersonInImage"},
};

// Converts to UTF-8 without characters that XML cannot hold. A longer text is cut between characters, and sets `cut`.
std::string clean_text(std::string_view bytes, std::size_t max_bytes, bool& cut);
// Adds a word to a list that does not have it yet. Sets `cut` where the list is full, or the word is too long.
void add_word(std::string_view bytes, std::vector<std::string>& words, bool& cut);

}  // namespace millrace
