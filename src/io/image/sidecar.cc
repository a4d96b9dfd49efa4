#include "src/io/image/sidecar.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "src/base/text.h"
#include "src/io/image/metadata/software.h"
#include "src/io/image/metadata/xmp.h"

namespace millrace {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kLongest = 1 << 20;

// Takes the text's parts as they come: nothing is built that a hostile text could make large or deep.
class Takeout : public nlohmann::json_sax<Json> {
 public:
  bool description = false, favourite = false;
  std::uint32_t people = 0;

  // Takeout writes zeros where there is no place.
  bool place() const { return told_.has_place() || told_by_exif_.has_place(); }

  bool null() override { return true; }
  bool boolean(bool value) override {
    if (at("{") && field_ == "favorited") favourite = value;
    return true;
  }
  bool number_integer(number_integer_t value) override { return number(static_cast<double>(value)); }
  bool number_unsigned(number_unsigned_t value) override { return number(static_cast<double>(value)); }
  bool number_float(number_float_t value, const string_t&) override { return number(value); }
  bool string(string_t& value) override {
    if (at("{") && field_ == "description") description = !says_nothing(value);
    if (at("{[{") && field_ == "people" && key_ == "name" && !trim(value).empty()) ++people;
    return true;
  }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return enter('{'); }
  bool key(string_t& value) override {
    (at("{") ? field_ : key_) = value;
    return true;
  }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return enter('['); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override { return false; }

 private:
  static constexpr std::size_t kDeepest = 3;  // people, a person, its name

  struct Place {
    std::optional<double> latitude, longitude;
    bool has_place() const { return latitude && longitude && (*latitude != 0 || *longitude != 0); }
  };

  bool at(std::string_view inside) const { return depth_ == inside.size() && inside_ == inside; }
  bool enter(char kind) {
    if (depth_++ < kDeepest) inside_ += kind;
    return true;
  }
  bool leave() {
    if (--depth_ < kDeepest) inside_.pop_back();
    return true;
  }
  bool number(double value) {
    if (!at("{{") || (field_ != "geoData" && field_ != "geoDataExif")) return true;
    Place& place = field_ == "geoData" ? told_ : told_by_exif_;
    if (key_ == "latitude") place.latitude = value;
    if (key_ == "longitude") place.longitude = value;
    return true;
  }

  std::size_t depth_ = 0;
  std::string inside_, field_, key_;  // what is open, from outside; the outermost object's key, and the last one inside
  Place told_, told_by_exif_;
};

}  // namespace

void add_sidecar_xmp(std::string_view packet, Provenance& to) { add_said(read_xmp(packet), to); }

void add_takeout_json(std::string_view text, Provenance& to) {
  Takeout said;
  if (!Json::sax_parse(text, &said)) return;
  to.description = to.description || said.description;
  to.gps = to.gps || said.place();
  to.favourite = to.favourite || said.favourite;
  to.people = std::max(to.people, said.people);
}

void add_sidecar(const std::string& path, Provenance& to) {
  const std::string kind = extension(path);
  if (kind != "xmp" && kind != "json") {
    for (const char* settings : {"aae", "pp3", "dop", "on1"}) to.developed = to.developed || kind == settings;
    return;
  }
  const auto text = read_text(path, kLongest);
  if (!text) return;
  if (kind == "json" && text->size() <= kLongest) add_takeout_json(*text, to);
  // Of settings as long as that, the beginning says enough.
  if (kind == "xmp") add_sidecar_xmp(std::string_view(*text).substr(0, kLongest), to);
}

}  // namespace millrace
