#include "src/jobs/fundus/photograph.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "src/base/json.h"
#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/image/png_write.h"
#include "src/io/output/output.h"
#include "src/jobs/results_folder.h"
#include "src/report/json_path.h"

namespace millrace::fundus {
namespace {

constexpr const char *kCrop = ".crop.png", *kEnhanced = ".enhanced.png";

void write(const std::string& path, std::int32_t side, const std::vector<std::uint8_t>& pixels) {
  OutputRegistry outputs({.overwrite = false, .check_writable = false});
  write_png_fast(
      outputs.add("--output", path,
                  {"a picture", ReadAccess::everyone, [](FileReader& file) { return is_own_png(file.peek()); }}),
      side, side, 3, pixels);
}

}  // namespace

std::string crop_path(const FundusOptions& options, const std::string& name) {
  return join_path(options.output, name + kCrop);
}
std::string enhanced_path(const FundusOptions& options, const std::string& name) {
  return join_path(options.output, name + kEnhanced);
}

Bytes memory_cost_of(const FundusOptions& options, const PictureInfo& info) {
  return estimate_field_of_view_memory(info, static_cast<std::int32_t>(options.size));
}

PhotographResult process_photograph(const FundusOptions& options, PhotographItem item) {
  PhotographResult out;
  out.path = item.file.path;
  out.name = item.name;
  const PictureInfo info = item.rows->info();
  const std::vector<std::uint8_t> pixels = read_whole_picture(*item.rows, out.path);
  const PictureRows::Finished finished = item.rows->finish().or_throw();
  if (finished.decoded.damaged) out.damage = finished.decoded.damage;
  item.rows.reset();
  const auto side = static_cast<std::int32_t>(options.size);
  std::vector<std::uint8_t> cropped;
  out.field = find_field_of_view({pixels.data(), info.width, info.height}, side, out.path, cropped);
  if (!out.damage.empty()) out.field.doubts.emplace_back("damaged: part of it is missing");
  if (options.write_crop || options.write_enhanced)
    make_folder_below(options.output, folder_of(crop_path(options, out.name)));
  if (options.write_crop) write(crop_path(options, out.name), side, cropped);
  if (options.write_enhanced) {
    const FieldBounds inside = out.field.crop.from_photograph(out.field.bounds);
    write(enhanced_path(options, out.name), side, enhance(cropped.data(), side, inside));
  }
  for (const auto& [wanted, ending] : {std::pair(options.write_crop, kCrop), {options.write_enhanced, kEnhanced}}) {
    if (!wanted) continue;
    const std::string name = out.name + ending, path = join_path(options.output, name);
    auto file = digest_of_file(AT_FDCWD, path);
    if (!file) throw Failure(system_error("it cannot be read", escape_unprintable(path), errno));
    file->name = name;
    out.files.push_back(*std::move(file));
  }
  return out;
}

std::string table_header() {
  std::string out = "path,width,height,center_x,center_y,radius,on_circle,explained,full_frame";
  for (const char* side : {"top", "bottom", "left", "right"})
    out += fmt::format(",{0}_normal_x,{0}_normal_y,{0}_offset", side);
  return out + ",crop_scale,crop_side,brightness,sharpness,saturated,visible,doubts,damage\n";
}

std::string table_line(const PhotographResult& found) {
  const FieldBounds& bounds = found.field.bounds;
  std::string out =
      fmt::format("{},{},{},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},{}", quote_csv_field(replace_invalid_utf8(found.path)),
                  found.field.width, found.field.height, bounds.center.x, bounds.center.y, bounds.radius,
                  bounds.on_circle, bounds.explained, bounds.full_frame ? 1 : 0);
  for (const FundusPoint& side : {FundusPoint{0, 1}, FundusPoint{0, -1}, FundusPoint{1, 0}, FundusPoint{-1, 0}}) {
    const auto line = std::find_if(bounds.lines.begin(), bounds.lines.end(), [&](const BoundaryLine& each) {
      return each.normal.x * side.x + each.normal.y * side.y > 0.9;
    });
    out += line == bounds.lines.end()
               ? ",,,"
               : fmt::format(",{:.6f},{:.6f},{:.4f}", line->normal.x, line->normal.y, line->offset);
  }
  const FundusQuality& quality = found.field.quality;
  return out + fmt::format(",{:.8f},{},{:.4f},{:.4f},{:.5f},{:.4f},{},{}\n", found.field.crop.scale,
                           found.field.crop.side, quality.brightness, quality.sharpness, quality.saturated,
                           quality.visible, quote_csv_field(fmt::format("{}", fmt::join(found.field.doubts, "; "))),
                           quote_csv_field(replace_invalid_utf8(found.damage)));
}

Json json_of(const PhotographResult& found) {
  Json out;
  add_path(out, found.path);
  out.update(field_of_view_to_json(found.field));
  if (!found.damage.empty()) out["damaged"] = found.damage;
  return out;
}

}  // namespace millrace::fundus
