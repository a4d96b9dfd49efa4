#include "src/jobs/fundus/photograph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/image/png_write.h"
#include "src/io/output/output.h"
#include "src/jobs/results_folder.h"
#include "src/report/json_path.h"

namespace millrace::fundus {
namespace {

// Where the field of view is not to be trusted, or little is to be seen. Found on photographs and on made ones; a
// person looks at what is named, nothing is left out.
constexpr double kExplained = 0.7, kOnCircle = 0.1, kDark = 0.15, kSaturated = 0.02, kVisible = 0.6, kSharp = 0.12;

std::vector<std::string> doubts_of(const Bounds& bounds, const Quality& quality) {
  std::vector<std::string> out;
  if (bounds.full_frame) out.emplace_back("full frame");
  if (!bounds.full_frame && (bounds.explained < kExplained || bounds.on_circle < kOnCircle))
    out.emplace_back("no clear field of view");
  if (quality.brightness < kDark) out.emplace_back("dark");
  if (quality.sharpness < kSharp) out.emplace_back("blurred");
  if (quality.saturated > kSaturated) out.emplace_back("overexposed");
  if (!bounds.full_frame && quality.visible < kVisible) out.emplace_back("clipped");
  // As every picture of something else is that does not fade into the dark at one side.
  if (bounds.lines.size() == 4) out.emplace_back("clipped at all four sides");
  return out;
}

std::vector<std::uint8_t> pixels_of(PictureRows& rows) {
  const PictureInfo& info = rows.info();
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

void write(const std::string& path, std::int32_t side, const std::vector<std::uint8_t>& pixels) {
  Outputs outputs({.overwrite = false, .prove = false});
  write_png_fast(
      outputs.add("--output", path,
                  {"a picture", Readers::everyone, [](FileReader& file) { return is_own_png(file.peek()); }}),
      side, side, 3, pixels);
}

}  // namespace

std::string crop_path(const Options& options, const std::string& name) {
  return path_in(options.output, name + ".crop.png");
}
std::string enhanced_path(const Options& options, const std::string& name) {
  return path_in(options.output, name + ".enhanced.png");
}

Bytes price_of(const Options& options, const PictureInfo& info) {
  const auto pixels = static_cast<std::uint64_t>(info.width) * static_cast<std::uint64_t>(info.height);
  const auto side = static_cast<std::uint64_t>(options.size);
  // Decoded, once more where the decoder holds it whole; crops, the surround of one, and what a PNG is packed in.
  return Bytes{pixels * 3} + info.decoder_memory + Bytes{side * side * 3 * 6} + 1_MiB;
}

Found process(const Options& options, Item item) {
  Found out;
  out.path = item.file.path;
  out.name = item.name;
  const PictureInfo info = item.rows->info();
  out.width = info.width;
  out.height = info.height;
  if (info.clips)
    throw Failure(ErrorCode::unsupported, "nothing says what is black and what is white in its grays", out.path,
                  "convert it to 8 bits first");
  constexpr int kLeast = 64;
  if (info.width < kLeast || info.height < kLeast)
    throw Failure(ErrorCode::unsupported, fmt::format("{} x {} pixels hold no field of view", info.width, info.height),
                  out.path, "");
  const std::vector<std::uint8_t> pixels = pixels_of(*item.rows);
  const PictureRows::Finished finished = item.rows->finish().or_throw();
  if (finished.decoded.damaged) out.damage = finished.decoded.damage;
  item.rows.reset();
  const Photograph photograph{pixels.data(), info.width, info.height};
  const auto bounds = find_bounds(photograph.red());
  if (!bounds) {
    throw Failure(ErrorCode::bad_data,
                  "no circle is in its red channel: it is no photograph of a fundus, or all of it is dark", out.path,
                  "");
  }
  out.bounds = *bounds;
  const auto side = static_cast<std::int32_t>(options.size);
  out.crop = crop_of(out.bounds, side);
  const std::vector<std::uint8_t> cropped = crop(photograph, out.crop);
  const Bounds inside = out.crop.from_photograph(out.bounds);
  out.quality = quality_of(cropped.data(), side, inside);
  out.doubts = doubts_of(out.bounds, out.quality);
  if (!out.damage.empty()) out.doubts.emplace_back("damaged: part of it is missing");
  if (options.write_crop || options.write_enhanced)
    make_folder_below(options.output, folder_of(crop_path(options, out.name)));
  if (options.write_crop) write(crop_path(options, out.name), side, cropped);
  if (options.write_enhanced) write(enhanced_path(options, out.name), side, enhance(cropped.data(), side, inside));
  return out;
}

std::string table_header() {
  std::string out = "path,width,height,center_x,center_y,radius,on_circle,explained,full_frame";
  for (const char* side : {"top", "bottom", "left", "right"})
    out += fmt::format(",{0}_normal_x,{0}_normal_y,{0}_offset", side);
  return out + ",crop_scale,crop_side,brightness,sharpness,saturated,visible,doubts,damage\n";
}

std::string table_line(const Found& found) {
  const Bounds& bounds = found.bounds;
  std::string out =
      fmt::format("{},{},{},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},{}", csv_field(utf8_for_display(found.path)),
                  found.width, found.height, bounds.center.x, bounds.center.y, bounds.radius, bounds.on_circle,
                  bounds.explained, bounds.full_frame ? 1 : 0);
  for (const Point& side : {Point{0, 1}, Point{0, -1}, Point{1, 0}, Point{-1, 0}}) {
    const auto line = std::find_if(bounds.lines.begin(), bounds.lines.end(), [&](const Line& each) {
      return each.normal.x * side.x + each.normal.y * side.y > 0.9;
    });
    out += line == bounds.lines.end()
               ? ",,,"
               : fmt::format(",{:.6f},{:.6f},{:.4f}", line->normal.x, line->normal.y, line->offset);
  }
  const Quality& quality = found.quality;
  return out + fmt::format(",{:.8f},{},{:.4f},{:.4f},{:.5f},{:.4f},{},{}\n", found.crop.scale, found.crop.side,
                           quality.brightness, quality.sharpness, quality.saturated, quality.visible,
                           csv_field(fmt::format("{}", fmt::join(found.doubts, "; "))),
                           csv_field(utf8_for_display(found.damage)));
}

nlohmann::ordered_json json_of(const Found& found) {
  nlohmann::ordered_json out;
  add_path(out, found.path);
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  for (const Line& line : found.bounds.lines)
    lines.push_back({{"normal", {line.normal.x, line.normal.y}}, {"offset", line.offset}});
  out["width"] = found.width;
  out["height"] = found.height;
  out["center"] = {found.bounds.center.x, found.bounds.center.y};
  out["radius"] = found.bounds.radius;
  out["lines"] = lines;
  out["on_circle"] = found.bounds.on_circle;
  out["explained"] = found.bounds.explained;
  out["full_frame"] = found.bounds.full_frame;
  out["crop"] = {{"scale", found.crop.scale}, {"side", found.crop.side}};
  out["quality"] = {{"brightness", found.quality.brightness},
                    {"sharpness", found.quality.sharpness},
                    {"saturated", found.quality.saturated},
                    {"visible", found.quality.visible}};
  out["doubts"] = found.doubts;
  if (!found.damage.empty()) out["damaged"] = found.damage;
  return out;
}

}  // namespace millrace::fundus
