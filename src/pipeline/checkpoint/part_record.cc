#include "src/pipeline/checkpoint/part_record.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

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
    out.part = json.at("shard").get<std::uint64_t>();
    out.run = json.at("part").get<std::string>();
    out.rows = json.at("rows").get<std::uint64_t>();
    out.bytes = json.at("bytes").get<std::uint64_t>();
    const auto hash = json.at("xxh3").get<std::string>();
    constexpr int kHexadecimal = 16;
    const auto [end, error] = std::from_chars(hash.data(), hash.data() + hash.size(), out.hash, kHexadecimal);
    if (error != std::errc() || end != hash.data() + hash.size() || out.part != part) return std::nullopt;
    return out;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace millrace
