#include "src/jobs/dedupe/stages/stage_records.h"

#include <climits>

#include "src/base/json.h"
#include "src/base/parse_values.h"
#include "src/base/text.h"
#include "src/report/json_path.h"

namespace millrace::dedupe {
namespace {

std::string_view characters(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Json json_of(const CatalogPicture& picture, const std::vector<std::uint8_t>& thumbnail) {
  Json codes = Json::array();
  for (const std::uint64_t code : picture.codes) codes.push_back(std::to_string(code));
  Json out = {{"format", picture.format},   {"width", picture.width}, {"height", picture.height},
              {"quality", picture.quality}, {"codes", codes},         {"exif_fields", picture.exif_fields}};
  // EXIF texts may hold any bytes.
  for (const auto& [name, text] : {std::pair("taken", &picture.taken), std::pair("subsecond", &picture.subsecond),
                                   std::pair("camera", &picture.camera), std::pair("damage", &picture.damage)}) {
    if (!text->empty()) out[name] = to_base64(*text);
  }
  if (picture.unshown) out["unshown"] = picture.unshown->bits();
  out["thumbnail"] = to_base64(characters(thumbnail));
  return out;
}

bool read_between(const Json& json, const char* name, int lowest, int highest, int& out) {
  const auto& value = json.at(name);
  if (!value.is_number_integer()) return false;
  const auto number = value.get<std::int64_t>();
  out = static_cast<int>(number);
  return number >= lowest && number <= highest;
}

bool read_bytes(const Json& json, const char* name, std::string& out) {
  const auto at = json.find(name);
  if (!at) return true;
  auto bytes = at->is_string() ? from_base64(at->get<std::string>()) : std::nullopt;
  if (!bytes) return false;
  out = *std::move(bytes);
  return true;
}

bool read_picture(const Json& json, FileReadResult& out) {
  CatalogPicture& picture = out.picture;
  std::string thumbnail;
  const auto& codes = json.at("codes");
  if (!read_between(json, "format", 0, 255, picture.format) ||
      !read_between(json, "width", 1, kMaxPictureSide, picture.width) ||
      !read_between(json, "height", 1, kMaxPictureSide, picture.height) ||
      !read_between(json, "quality", 0, 100, picture.quality) ||
      !read_between(json, "exif_fields", 0, INT_MAX, picture.exif_fields) || !codes.is_array() ||
      codes.size() != picture.codes.size() || !read_bytes(json, "taken", picture.taken) ||
      !read_bytes(json, "subsecond", picture.subsecond) || !read_bytes(json, "camera", picture.camera) ||
      !read_bytes(json, "damage", picture.damage) || !read_bytes(json, "thumbnail", thumbnail) || thumbnail.empty() ||
      thumbnail.size() > kMaxThumbnailBytes) {
    return false;
  }
  if (json.contains("unshown")) {
    int unshown = 0;
    if (!read_between(json, "unshown", 0, UnshownData::kMaxBits, unshown)) return false;
    picture.unshown = UnshownData::from(static_cast<unsigned>(unshown));
  }
  for (std::size_t i = 0; i < picture.codes.size(); ++i) {
    if (!read_number(codes[i].get<std::string>(), picture.codes[i])) return false;
  }
  out.thumbnail.assign(thumbnail.begin(), thumbnail.end());
  // The thumbnail digest is a key, so it is computed here and not taken from the line.
  picture.thumbnail_digest = compute_thumbnail_digest(out.thumbnail, picture.codes);
  return true;
}

bool read_reason(const Json& json, ErrorCode& code, std::string& reason) {
  int number = 0;
  if (!read_between(json, "code", 0, static_cast<int>(ErrorCode::internal), number)) return false;
  code = static_cast<ErrorCode>(number);
  reason = json.at("reason").get<std::string>();
  return !reason.empty();
}

Json json_of(ErrorCode code, const std::string& reason) {
  return {{"code", static_cast<int>(code)}, {"reason", replace_invalid_utf8(reason)}};
}

}  // namespace

std::string format_line(const FileEntry& entry, const FileReadResult& read) {
  Json line;
  add_path(line, entry.path);
  line["bytes"] = entry.size;
  line["mtime_ns"] = std::to_string(entry.mtime_ns);
  if (read.error) {
    line["error"] = json_of(read.error->code, read.error->what);
  } else {
    line["content"] = hex_of_bytes(read.content);
    if (read.picture.failed) {
      line["failed"] = json_of(read.picture.code, read.picture.reason);
    } else {
      line["picture"] = json_of(read.picture, read.thumbnail);
    }
  }
  return line.dump() + "\n";
}

std::optional<FileRecord> parse_file_record(const std::string& text) {
  try {
    const Json line = Json::parse_or_null(text);
    auto path = path_of(line);
    FileRecord out;
    if (!path || !read_number(line.at("mtime_ns").get<std::string>(), out.entry.mtime_ns)) return std::nullopt;
    out.entry.path = *std::move(path);
    const auto& bytes = line.at("bytes");
    if (!bytes.is_number_unsigned()) return std::nullopt;
    out.entry.size = bytes.get<std::uint64_t>();
    if (const auto error = line.find("error")) {
      Error reason{};
      if (!read_reason(*error, reason.code, reason.what)) return std::nullopt;
      out.read.error = std::move(reason);
      return out;
    }
    const auto content = content_hash_from_hex(line.at("content").get<std::string>());
    if (!content) return std::nullopt;
    out.read.content = out.read.picture.content = *content;
    out.read.has_picture = true;
    const auto failed = line.find("failed");
    Error reason{};
    if (!failed ? !read_picture(line.at("picture"), out.read) : !read_reason(*failed, reason.code, reason.what))
      return std::nullopt;
    if (failed) mark_failed(out.read.picture, out.entry.path, reason.code, reason.what);
    return out;
  } catch (const Json::Error&) {
    return std::nullopt;
  }
}

std::string format_line(const CatalogComparison& comparison) {
  return Json{{"a", hex_of_bytes(comparison.a)},
              {"b", hex_of_bytes(comparison.b)},
              {"version", comparison.version},
              {"verdict", to_base64(characters(comparison.verdict))}}
             .dump() +
         "\n";
}

std::optional<CatalogComparison> parse_check_record(const std::string& text) {
  try {
    const Json line = Json::parse_or_null(text);
    const auto a = content_hash_from_hex(line.at("a").get<std::string>()),
               b = content_hash_from_hex(line.at("b").get<std::string>());
    int version = 0;
    std::string verdict;
    if (!a || !b || !(*a < *b) || !read_between(line, "version", 0, INT_MAX, version) ||
        !read_bytes(line, "verdict", verdict) || verdict.size() > CatalogComparison::kMaxBytes) {
      return std::nullopt;
    }
    return CatalogComparison{*a, *b, static_cast<std::uint32_t>(version), {verdict.begin(), verdict.end()}};
  } catch (const Json::Error&) {
    return std::nullopt;
  }
}

}  // namespace millrace::dedupe
