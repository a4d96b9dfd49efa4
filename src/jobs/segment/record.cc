#include "src/jobs/segment/record.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "src/base/text.h"
#include "src/io/file/reader.h"
#include "src/io/output/output.h"

namespace millrace::segment {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kMark = "segment picture";

// Null where there is none.
Json record_in(const std::string& file) {
  constexpr std::uint64_t kMostBytes = 1 << 20;
  const auto text = read_text(file, kMostBytes);
  if (!text || text->size() > kMostBytes) return {};
  Json json = Json::parse(*text, nullptr, false);
  return json.is_object() && json.value(kJsonMark, Json()) == kMark ? json : Json();
}

}  // namespace

std::string json_of(const PictureResult& result, const Setup& setup) {
  Json out = {{kJsonMark, kMark}};
  out["name"] = utf8_for_display(result.name);
  out["hash"] = result.hash;
  if (!result.roi.empty()) out["roi"] = result.roi;
  out["width"] = result.width;
  out["height"] = result.height;
  out["windows"] = result.windows;
  out["left_out"] = result.left_out;
  if (!result.damage.empty()) out["damaged"] = result.damage;
  if (!result.cuts.empty()) out["contours_cut_above_rows"] = result.cuts;
  Json classes = Json::array();
  for (std::size_t c = 0; c < result.classes.size(); ++c) {
    classes.push_back({{"name", utf8_for_display(setup.classes[c].name)},
                       {"pixels", result.classes[c].pixels},
                       {"mean_probability", result.classes[c].mean}});
  }
  out["classes"] = classes;
  return out.dump(1) + "\n";
}

std::string not_whole() { return Json({{kJsonMark, kMark}}).dump(1) + "\n"; }

bool is_record(const std::string& file) { return !record_in(file).is_null(); }

std::optional<PictureResult> earlier_result(const std::string& file, const Setup& setup) {
  const Json json = record_in(file);
  try {
    PictureResult out;
    out.hash = json.at("hash").get<std::string>();
    if (json.contains("roi")) out.roi = json.at("roi").get<std::string>();
    out.width = json.at("width").get<int>();
    out.height = json.at("height").get<int>();
    out.windows = json.at("windows").get<std::uint64_t>();
    out.left_out = json.at("left_out").get<std::uint64_t>();
    if (json.contains("damaged")) out.damage = json.at("damaged").get<std::string>();
    if (json.contains("contours_cut_above_rows"))
      out.cuts = json.at("contours_cut_above_rows").get<std::vector<std::uint32_t>>();
    for (const Json& each : json.at("classes"))
      out.classes.push_back({each.at("pixels").get<std::uint64_t>(), each.at("mean_probability").get<double>()});
    if (out.classes.size() == setup.classes.size()) return out;
  } catch (const Json::exception&) {
    // Not as this program writes it.
  }
  return std::nullopt;
}

std::string table_of(const std::vector<PictureResult>& pictures, const Setup& setup) {
  std::string out = "path,width,height,windows,left_out,class,pixels,share,mean_probability,damage\n";
  for (const PictureResult& each : pictures) {
    const double all = static_cast<double>(each.width) * each.height;
    for (std::size_t c = 0; c < each.classes.size(); ++c) {
      out += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", csv_field(utf8_for_display(each.path)), each.width,
                         each.height, each.windows, each.left_out, csv_field(utf8_for_display(setup.classes[c].name)),
                         each.classes[c].pixels, static_cast<double>(each.classes[c].pixels) / all,
                         each.classes[c].mean, csv_field(utf8_for_display(each.damage)));
    }
  }
  return out;
}

}  // namespace millrace::segment
