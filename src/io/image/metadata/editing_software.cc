#include "src/io/image/metadata/editing_software.h"

#include <algorithm>
#include <array>
#include <string>

#include "src/base/text.h"

namespace millrace {
namespace {

constexpr std::size_t kMaxSoftwareNameBytes = 1024;

// Names in lower case. Names of six characters and more match anywhere in a text, shorter ones only as whole words.
constexpr std::array<std::string_view, 84> kEditors = {
    "photoshop",
    "lightroom",
    "camera raw",
    "gimp",
    "darktable",
    "rawtherapee",
    "capture one",
    "snapseed",
    "picsart",
    "affinity",
    "picasa",
    "instagram",
    "imagemagick",
    "graphicsmagick",
    "paint.net",
    "pixelmator",
    "acdsee",
    "acd systems",
    "digikam",
    "showfoto",
    "gthumb",
    "shotwell",
    "krita",
    "inkscape",
    "paintshop",
    "paint shop",
    "corel",
    "ulead",
    "photoimpact",
    "photodirector",
    "photoscape",
    "photofiltre",
    "photoline",
    "photopea",
    "photo editor",
    "photo pos",
    "irfanview",
    "xnview",
    "xnconvert",
    "faststone",
    "zoner",
    "fotor",
    "befunky",
    "pixlr",
    "polarr",
    "canva",
    "vsco",
    "facetune",
    "beautyplus",
    "b612",
    "camera360",
    "google photos",
    "facebook",
    "snapchat",
    "luminar",
    "aurora hdr",
    "photomatix",
    "photolab",
    "dxo optics",
    "dxo pureraw",
    "dxo filmpack",
    "on1",
    "exposure x",
    "aperture",
    "iphoto",
    "silkypix",
    "digital photo professional",
    "capture nx",
    "nx studio",
    "viewnx",
    "image data converter",
    "olympus viewer",
    "olympus studio",
    "olympus workspace",
    "om workspace",
    "hugin",
    "ptgui",
    "autopano",
    "image composite editor",
    "topaz",
    "gigapixel",
    "gd-jpeg",
    "lavc",
    "lead technologies",
};

// Descriptions that cameras write by themselves. Some phones write the kind of the shot in a few letters.
constexpr std::array<std::string_view, 34> kDefaults = {
    "sony dsc",
    "dcim",
    "exif_jpeg_picture",
    "jpeg_picture",
    "default",
    "untitled",
    "picture",
    "image",
    "digital still camera",
    "digital stillcamera",
    "samsung camera pictures",
    "user comments",
    "binary comment",
    "screenshot",
    "hdr",
    "hdrpl",
    "rhdr",
    "trhdr",
    "cof",
    "cuhdr",
    "dav",
    "sdr",
    "nor",
    "oznor",
    "rptnb",
    "rbt",
    "ptr",
    "edf",
    "mde",
    "fbt",
    "bty",
    "smr",
    "bsh",
    "burst",
};

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_whole_word(std::string_view text, std::size_t at, std::size_t size) {
  const bool begins = at == 0 || (!is_letter(text[at - 1]) && !is_digit(text[at - 1]));
  return begins && (at + size == text.size() || !is_letter(text[at + size]));
}

bool contains_editor_name(std::string_view text, std::string_view name) {
  constexpr std::size_t kShort = 5;
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    if (name.size() > kShort || is_whole_word(text, at, name.size())) return true;
  }
  return false;
}

}  // namespace

bool is_editor_name(std::string_view software) {
  const std::string text = lower_ascii(trim(software.substr(0, kMaxSoftwareNameBytes)));
  // Two editors whose names are also ordinary words: Google's, and Apple's, which is "Photos 5.0".
  if (text == "google" || (text.starts_with("photos ") && text.size() > 7 && is_digit(text[7]))) return true;
  return std::any_of(kEditors.begin(), kEditors.end(),
                     [&](std::string_view name) { return contains_editor_name(text, name); });
}

bool is_default_description(std::string_view description) {
  const std::string text = lower_ascii(trim(description.substr(0, kMaxSoftwareNameBytes)));
  // True for a text without a letter or digit of any script.
  if (std::none_of(text.begin(), text.end(),
                   [](char c) { return is_letter(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80; })) {
    return true;
  }
  if (text.ends_with("digital camera")) return true;
  // Texts that begin so are settings of a camera app, or signatures of programs.
  for (const std::string_view beginning :
       {"{", "filter:", "metadata-start", "created with", "creator:", "file written by"}) {
    if (text.starts_with(beginning)) return true;
  }
  return std::find(kDefaults.begin(), kDefaults.end(), text) != kDefaults.end();
}

}  // namespace millrace
