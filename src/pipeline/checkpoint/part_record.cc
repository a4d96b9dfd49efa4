#include "src/pipeline/checkpoint/part_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "src/base/paths.h"
#include "src/base/version.h"
#include "src/io/file/reader.h"
#include "src/io/file/shallow_json.h"

namespace millrace {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::string part_record_name(std::uint64_t part) { return fmt::format("{}.made.json", part); }

std::string json_of(const PartRecord& record) {
  // A hash is more than a number of JSON holds everywhere.
  return Json{{"shard", record.part}, {"part", record.run},    {"version", version()},
              {"rows", record.rows},  {"bytes", record.bytes}, {"xxh3", fmt::format("{:016x}", record.hash)}}
             .dump() +
         "\n";
}

std::optional<PartRecord> part_record(const std::string& path, std::uint64_t part) {
  constexpr std::uint64_t kMostBytes = 1 << 12;
  const auto text = read_text(path, kMostBytes);
  if (!text) return std::nullopt;
  try {
    const Json json = shallow_json(*text);
    PartRecord out;
    for (const auto& [name, number] :
         {std::pair("shard", &out.part), std::pair("rows", &out.rows), std::pair("bytes", &out.bytes)}) {
      if (!json.at(name).is_number_unsigned()) return std::nullopt;
      *number = json.at(name).get<std::uint64_t>();
    }
    out.run = json.at("part").get<std::string>();
    const auto hash = json.at("xxh3").get<std::string>();
    constexpr int kHexadecimal = 16;
    const auto [end, error] = std::from_chars(hash.data(), hash.data() + hash.size(), out.hash, kHexadecimal);
    if (error != std::errc() || end != hash.data() + hash.size() || out.part != part) return std::nullopt;
    return out;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

bool has_recorded_hash(const PartBytes& bytes, const PartRecord& record, const std::function<void()>& go_on) {
  return record.bytes == size_of(bytes) && record.hash == hash_of(bytes, go_on);
}

bool is_as_recorded(const PartBytes& bytes, const std::string& folder, std::uint64_t part) {
  const auto record = part_record(path_in(folder, part_record_name(part)), part);
  // It may have been put together with the others already.
  if (!record || bytes.empty()) return true;
  const bool shared = std::any_of(bytes.begin(), bytes.end(), [](const FileBytes& file) { return file.count; });
  return shared ? has_recorded_hash(bytes, *record, [] {}) : record->bytes == size_of(bytes);
}

}  // namespace millrace
