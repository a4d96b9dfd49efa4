#include "src/io/image/takeout.h"

#include <nlohmann/json.hpp>

#include "src/base/text.h"
#include "src/io/image/metadata/editing_software.h"

namespace millrace {
namespace {

// Handles the parser's events one by one, so that a hostile text cannot make it build anything large or deep.
class TakeoutParser : public nlohmann::json_sax<nlohmann::json> {
 public:
  TakeoutFacts facts;

  // A place that a person gave wins over the one that the camera wrote.
  void finish() {
    for (const GeoPoint& place : {geo_data_, geo_data_exif_}) {
      if (facts.latitude || !place.has_coordinates()) continue;
      facts.latitude = place.latitude;
      facts.longitude = place.longitude;
    }
  }

  bool null() override { return true; }
  bool boolean(bool value) override {
    if (at("{") && field_ == "favorited") facts.favourite = value;
    return true;
  }
  bool number_integer(number_integer_t value) override { return number(static_cast<double>(value)); }
  bool number_unsigned(number_unsigned_t value) override { return number(static_cast<double>(value)); }
  bool number_float(number_float_t value, const string_t&) override { return number(value); }
  bool string(string_t& value) override {
    if (at("{") && field_ == "description") facts.description = is_default_description(value) ? "" : value;
    if (at("{[{") && field_ == "people" && key_ == "name" && !trim(value).empty() && facts.people.size() < kMaxPeople)
      facts.people.push_back(value);
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
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override { return false; }

 private:
  static constexpr std::size_t kMaxPeople = 4096;
  static constexpr std::size_t kMaxDepth = 3;  // levels: the file, its people, a person

  struct GeoPoint {
    std::optional<double> latitude, longitude;
    bool has_coordinates() const { return latitude && longitude && (*latitude != 0 || *longitude != 0); }
  };

  bool at(std::string_view inside) const { return depth_ == inside.size() && inside_ == inside; }
  bool enter(char kind) {
    if (depth_++ < kMaxDepth) inside_ += kind;
    return true;
  }
  bool leave() {
    if (--depth_ < kMaxDepth) inside_.pop_back();
    return true;
  }
  bool number(double value) {
    if (!at("{{") || (field_ != "geoData" && field_ != "geoDataExif")) return true;
    GeoPoint& place = field_ == "geoData" ? geo_data_ : geo_data_exif_;
    if (key_ == "latitude") place.latitude = value;
    if (key_ == "longitude") place.longitude = value;
    return true;
  }

  std::size_t depth_ = 0;
  std::string inside_, field_, key_;  // open brackets, from outside; the outermost object's key; the last key inside
  GeoPoint geo_data_, geo_data_exif_;
};

}  // namespace

TakeoutFacts read_takeout(std::string_view text) {
  TakeoutParser parser;
  if (!nlohmann::json::sax_parse(text, &parser)) return {};
  parser.finish();
  parser.facts.readable = true;
  return std::move(parser.facts);
}

}  // namespace millrace
