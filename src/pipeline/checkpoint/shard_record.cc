#include "src/pipeline/checkpoint/shard_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/base/json.h"
#include "src/base/paths.h"
#include "src/base/version.h"
#include "src/io/file/file_reader.h"
#include "src/io/store/checksums.h"
#include "src/pipeline/checkpoint/run_presence.h"

namespace millrace {
namespace {}  // namespace

std::string shard_record_name(std::uint64_t part) { return fmt::format("{}.made.json", part); }

std::string json_of(const ShardRecord& record) {
  return Json{{"shard", record.part},
              {"part", record.run},
              {"version", version()},
              {"rows", record.rows},
              {"inputs", fmt::format("{:016x}", record.inputs)},
              {"host", record.host},
              {kChecksums, Json::parse(json_of(record.files))}}
             .dump() +
         "\n";
}

std::optional<ShardRecord> read_shard_record(const std::string& path, std::uint64_t part) {
  constexpr std::uint64_t kMaxBytes = 1 << 20;
  const auto text = read_text(path, kMaxBytes);
  if (!text) return std::nullopt;
  try {
    const Json json = Json::parse_or_null(*text);
    ShardRecord out;
    for (const auto& [name, number] : {std::pair("shard", &out.part), std::pair("rows", &out.rows)}) {
      if (!json.at(name).is_number_unsigned()) return std::nullopt;
      *number = json.at(name).get<std::uint64_t>();
    }
    out.run = json.at("part").get<std::string>();
    out.host = json.at("host").get<std::string>();
    const auto inputs = parse_hex(json.at("inputs").get<std::string>());
    if (!inputs) return std::nullopt;
    out.inputs = *inputs;
    auto files = parse_checksums(json.at(kChecksums).dump());
    if (!files || out.part != part) return std::nullopt;
    out.files = *std::move(files);
    return out;
  } catch (const Json::Error&) {
    return std::nullopt;
  }
}

bool has_recorded_hash(const ShardBytes& bytes, const ShardRecord& record,
                       const std::function<void()>& check_cancelled) {
  std::uint64_t recorded = 0;
  for (const FileDigest& file : record.files) recorded += file.bytes;
  return recorded == size_of(bytes) && record.files == digests_of(bytes, check_cancelled);
}

bool is_as_recorded(const ShardBytes& bytes, const std::string& folder, std::uint64_t part, std::uint64_t inputs,
                    const std::function<void()>& check_cancelled) {
  if (bytes.empty()) return true;
  const auto record = read_shard_record(join_path(folder, shard_record_name(part)), part);
  if (!record) return false;
  const bool same_machine = inputs != 0 && record->inputs != 0 && record->host == machine_name();
  return (!same_machine || record->inputs == inputs) && has_recorded_hash(bytes, *record, check_cancelled);
}

}  // namespace millrace
