#include "src/jobs/field_of_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/sizes.h"

namespace millrace {
namespace {

// Thresholds for flagging a photograph whose field of view is doubtful, or whose quality is poor. They were found on
// real and synthetic photographs; a person checks the flagged ones.
// docs/design/fundus.md gives the reasons for the constants of this file.
constexpr double kExplained = 0.7, kOnCircle = 0.1, kDark = 0.15, kSaturated = 0.02, kVisible = 0.6, kSharp = 0.12;

std::vector<std::string> doubts_of(const fundus::FieldBounds& bounds, const fundus::FundusQuality& quality) {
  std::vector<std::string> out;
  if (bounds.full_frame) out.emplace_back("full frame");
  if (!bounds.full_frame && (bounds.explained < kExplained || bounds.on_circle < kOnCircle))
    out.emplace_back("no clear field of view");
  if (quality.brightness < kDark) out.emplace_back("dark");
  if (quality.sharpness < kSharp) out.emplace_back("blurred");
  if (quality.saturated > kSaturated) out.emplace_back("overexposed");
  if (!bounds.full_frame && quality.visible < kVisible) out.emplace_back("clipped");
  // Images of other subjects are clipped at all four sides, unless they fade to black at one side.
  if (bounds.lines.size() == 4) out.emplace_back("clipped at all four sides");
  return out;
}

}  // namespace

std::vector<std::uint8_t> read_whole_picture(PictureRows& rows, const std::string& path) {
  const PictureInfo& info = rows.info();
  if (info.clips)
    throw Failure(ErrorCode::unsupported, "the black and white points of its gray values are unknown", path,
                  "convert it to 8 bits first");
  const auto width = static_cast<std::size_t>(info.width), height = static_cast<std::size_t>(info.height);
  std::vector<std::uint8_t> out(width * height * 3);
  if (info.channels == 3) {
    rows.take(info.height, out.data()).or_throw();
    return out;
  }
  std::vector<std::uint8_t> row(rows.row_bytes());
  for (std::size_t y = 0; y < height; ++y) {
    rows.take(1, row.data()).or_throw();
    for (std::size_t x = 0; x < width; ++x)
      std::fill_n(out.data() + (y * width + x) * 3, 3, row[x * static_cast<std::size_t>(info.channels)]);
  }
  return out;
}

Bytes estimate_field_of_view_memory(const PictureInfo& info, std::int32_t side) {
  const auto pixels = static_cast<std::uint64_t>(info.width) * static_cast<std::uint64_t>(info.height);
  const auto of_square = static_cast<std::uint64_t>(side) * static_cast<std::uint64_t>(side);
  return Bytes{pixels * 3} + info.decoder_memory + Bytes{of_square * 3 * 6} + 1_MiB;
}

FieldOfView find_field_of_view(const fundus::Photograph& photograph, std::int32_t side, const std::string& path,
                               std::vector<std::uint8_t>& square) {
  constexpr std::int32_t kMinSide = 64, kMaxSide = 1 << 20;
  const auto [shorter, longer] = std::minmax(photograph.width, photograph.height);
  if (shorter < kMinSide || longer > kMaxSide)
    throw Failure(ErrorCode::unsupported,
                  fmt::format("its size of {} x {} pixels is not supported; sides of {} to {} pixels are expected",
                              photograph.width, photograph.height, group_digits(kMinSide), group_digits(kMaxSide)),
                  path, "");
  const auto bounds = fundus::find_field_bounds(photograph.red());
  if (!bounds) {
    throw Failure(ErrorCode::bad_data,
                  "no circle was found in its red channel: it is not a fundus photograph, or it is too dark", path, "");
  }
  FieldOfView out;
  out.width = photograph.width;
  out.height = photograph.height;
  out.bounds = *bounds;
  out.crop = fundus::make_crop(out.bounds, side);
  square = fundus::crop(photograph, out.crop);
  out.quality = fundus::measure_quality(square.data(), side, out.crop.from_photograph(out.bounds));
  out.doubts = doubts_of(out.bounds, out.quality);
  return out;
}

Json field_of_view_to_json(const FieldOfView& field) {
  Json out, lines = Json::array();
  const fundus::FieldBounds& bounds = field.bounds;
  for (const fundus::BoundaryLine& line : bounds.lines)
    lines.push_back({{"normal", {line.normal.x, line.normal.y}}, {"offset", line.offset}});
  out["width"] = field.width;
  out["height"] = field.height;
  out["center"] = {bounds.center.x, bounds.center.y};
  out["radius"] = bounds.radius;
  out["lines"] = lines;
  out["on_circle"] = bounds.on_circle;
  out["explained"] = bounds.explained;
  out["full_frame"] = bounds.full_frame;
  out["crop"] = {{"scale", field.crop.scale}, {"side", field.crop.side}};
  out["quality"] = {{"brightness", field.quality.brightness},
                    {"sharpness", field.quality.sharpness},
                    {"saturated", field.quality.saturated},
                    {"visible", field.quality.visible}};
  out["doubts"] = field.doubts;
  return out;
}

FieldOfView parse_field_of_view(const Json& json) {
  FieldOfView out;
  const auto point = [](const Json& at) { return fundus::FundusPoint{at.at(0).get<double>(), at.at(1).get<double>()}; };
  out.width = json.at("width").get<std::int32_t>();
  out.height = json.at("height").get<std::int32_t>();
  out.bounds.center = point(json.at("center"));
  out.bounds.radius = json.at("radius").get<double>();
  for (const auto& line : json.at("lines"))
    out.bounds.lines.push_back({point(line.at("normal")), line.at("offset").get<double>()});
  out.bounds.on_circle = json.at("on_circle").get<double>();
  out.bounds.explained = json.at("explained").get<double>();
  out.bounds.full_frame = json.at("full_frame").get<bool>();
  out.crop = {out.bounds.center, json.at("crop").at("scale").get<double>(),
              json.at("crop").at("side").get<std::int32_t>()};
  const auto& quality = json.at("quality");
  out.quality = {quality.at("brightness").get<double>(), quality.at("sharpness").get<double>(),
                 quality.at("saturated").get<double>(), quality.at("visible").get<double>()};
  out.doubts = json.at("doubts").get<std::vector<std::string>>();
  return out;
}

}  // namespace millrace
