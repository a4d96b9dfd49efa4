#include "src/pipeline/checkpoint/run_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "src/base/choice.h"
#include "src/base/json.h"
#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/base/version.h"
#include "src/io/file/atomic_file.h"
#include "src/io/file/file_reader.h"
#include "src/io/store/checksums.h"

namespace millrace {
namespace {

constexpr std::uint64_t kMaxFileBytes = 256 << 20;

// Returns a list of inputs without their names; null if the text is not such a list.
Json contents(const std::string& text) {
  auto list = Json::parse_or_null(text);
  if (!list.is_array()) return nullptr;
  for (auto& entry : list) {
    if (!entry.is_object()) return nullptr;
    entry.erase("path");
    entry.erase("path_base64");
  }
  return list;
}

Error not_ours(const std::string& path) {
  return Error{ErrorCode::bad_data, "it is damaged, or no run wrote it", path, ""};
}

// Returns true for a name that stays in the folder, and is safe in the files that contain it. Dots are only between
// words.
bool is_identifier(const std::string& name) {
  const auto word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'; };
  bool after_word = false;
  for (const char c : name) {
    if (!word(c) && !(after_word && (c == '/' || c == '.'))) return false;
    after_word = word(c);
  }
  return after_word && std::count(name.begin(), name.end(), '/') <= 1;
}

Outcome<ArraySpec> parse_array_spec(const Json& json, const std::string& path) {
  ArraySpec out;
  out.name = json.at("name").get<std::string>();
  const auto type = element_type(json.at("type").get<std::string>());
  const auto rows = json.at("rows").get<std::string>();
  bool known = false;
  for (const auto& choice : choices_of(ArraySpec::Rows{})) {
    if (rows != choice.name) continue;
    out.rows = choice.value;
    known = true;
  }
  out.shape = json.at("shape").get<std::vector<std::uint64_t>>();
  out.text_bytes = json.at("text_bytes").get<std::uint32_t>();
  out.extension = json.at("extension").get<std::string>();
  out.header = json.at("header").get<std::string>();
  for (const auto& [name, numbers] : json.at("attributes").items()) {
    out.attributes.emplace_back(name, numbers.get<std::vector<std::int64_t>>());
  }
  constexpr std::uint32_t kMaxTextBytes = 1 << 20;
  if (!type || !known || out.text_bytes > kMaxTextBytes || !is_identifier(out.name) ||
      (!out.extension.empty() && !is_identifier(out.extension))) {
    return not_ours(path);
  }
  out.type = *type;
  constexpr std::uint64_t kMaxRowBytes = std::uint64_t{1} << 31;
  constexpr std::size_t kMaxDimensions = 31;
  // A column of a table has one number or one text per row.
  const bool plain = out.rows == ArraySpec::Rows::numbers || out.rows == ArraySpec::Rows::texts;
  if (out.shape.size() > kMaxDimensions || (!out.table().empty() && (!plain || !out.shape.empty()))) {
    return not_ours(path);
  }
  std::uint64_t bytes = out.type.bytes();
  for (const std::uint64_t side : out.shape) {
    if (side == 0 || bytes > kMaxRowBytes / side) return not_ours(path);
    bytes *= side;
  }
  return out;
}

bool have_same_inputs(const std::string& a, const std::string& b) {
  const auto one = contents(a), other = contents(b);
  return !one.is_null() && one == other;
}

}  // namespace

std::string describe_differences(const Attributes& then, const Attributes& now) {
  std::string out;
  // An attribute with a space in its name is not an option.
  const auto named = [](const std::string& name) {
    return name.find(' ') == std::string::npos ? "--" + name : fmt::format("'{}'", name);
  };
  for (const auto& [name, value] : now) {
    const auto same = [&name = name](const auto& entry) { return entry.first == name; };
    const auto was = std::find_if(then.begin(), then.end(), same);
    if (was != then.end() && (was->second == value || (name == "inputs" && have_same_inputs(was->second, value))))
      continue;
    if (!out.empty()) out += "; ";
    if (name == "inputs") {
      out += "the inputs have changed or are different";
    } else if (was == then.end()) {
      out += fmt::format("{} is '{}' and was not set", named(name), value);
    } else {
      out += fmt::format("{} was '{}', is '{}'", named(name), was->second, value);
    }
  }
  // The size of a shard is recorded even if it does not matter.
  for (const auto& [name, value] : then) {
    const auto same = [&name = name](const auto& entry) { return entry.first == name; };
    if (name == "shard" || std::any_of(now.begin(), now.end(), same)) continue;
    if (!out.empty()) out += "; ";
    out += fmt::format("{} was '{}'", named(name), value);
  }
  return out;
}

bool is_from_other_hardware(const Attributes& then, const Attributes& now) {
  // Attributes of a second network count too: "fast-cpu".
  const auto rest = [](Attributes all) {
    std::erase_if(all,
                  [](const auto& entry) { return entry.first.ends_with("cpu") || entry.first.ends_with("runtime"); });
    return all;
  };
  return !describe_differences(then, now).empty() && describe_differences(rest(then), rest(now)).empty();
}

std::string json_of(const Attributes& attributes, std::span<const FileDigest> checksums) {
  Json json;
  for (const auto& [name, value] : attributes) json[name] = value;
  std::string out = json.dump(1) + "\n";
  if (checksums.empty()) return out;
  // The list is on one line: it may have a million entries.
  const std::size_t end = out.rfind("\n}");
  return add_self_checksum(
      out.insert(end, fmt::format(",\n \"{}\": {}", kChecksums, json_with_self_checksum(checksums))));
}

std::optional<std::vector<FileDigest>> read_json_checksums(const std::string& path, const char* member) {
  const auto text = read_text(path, kMaxFileBytes);
  auto json = text ? Json::parse_or_null(*text) : Json();
  if (member != nullptr && json.is_object()) json = json.value(member, Json());
  if (!json.is_object() || !json.contains(kChecksums)) return std::nullopt;
  return parse_checksums(json.at(kChecksums).dump());
}

std::optional<NamedChecksums> read_store_checksums(const std::string& output) {
  for (const auto& [name, member] :
       {std::pair(RunFolder::kRunFile, static_cast<const char*>(nullptr)), std::pair("zarr.json", "attributes")}) {
    if (auto digests = read_json_checksums(join_path(output, name), member))
      return NamedChecksums(name, *std::move(digests));
  }
  return std::nullopt;
}

Outcome<Attributes> read_json_attributes(const std::string& path, const char* member) {
  const auto text = read_text(path, kMaxFileBytes);
  if (!text) return text.error();
  Attributes out;
  auto json = Json::parse_or_null(*text);
  if (member != nullptr && json.is_object()) json = json.value(member, Json());
  if (json.is_object()) {
    for (const auto& [name, value] : json.items()) {
      if (value.is_string()) out.emplace_back(name, value.get<std::string>());
    }
  }
  if (out.empty()) return not_ours(path);
  return out;
}

std::string json_of(const ShardsFile& file) {
  Json arrays = Json::array();
  for (const ArraySpec& array : file.spec.arrays) {
    Json attributes = Json::object();
    for (const auto& [name, numbers] : array.attributes) attributes[name] = numbers;
    arrays.push_back({{"name", array.name},
                      {"rows", choice_name(array.rows)},
                      {"type", name_of(array.type)},
                      {"shape", array.shape},
                      {"text_bytes", array.text_bytes},
                      {"extension", array.extension},
                      {"header", array.header},
                      {"attributes", attributes}});
  }
  Json attributes = Json::object();
  for (const auto& [name, value] : file.spec.attributes) attributes[name] = value;
  return Json{{"store", file.store},     {"mark", file.mark}, {"unit", file.spec.unit},  {"rows", file.parts.rows},
              {"each", file.parts.each}, {"arrays", arrays},  {"attributes", attributes}}
             .dump(1) +
         "\n";
}

Outcome<ShardsFile> read_shards_file(const std::string& path) {
  const auto text = read_text(path, kMaxFileBytes);
  if (!text) return text.error();
  try {
    const Json json = Json::parse_or_null(*text);
    ShardsFile out;
    out.store = json.at("store").get<std::string>();
    out.mark = json.at("mark").get<std::string>();
    out.parts = {json.at("rows").get<std::uint64_t>(), json.at("each").get<std::uint64_t>()};
    out.spec.rows = out.parts.rows;
    out.spec.unit = json.at("unit").get<std::string>();
    int compressed = 0;
    bool files = false;
    for (const Json& array : json.at("arrays")) {
      auto spec = parse_array_spec(array, path);
      if (!spec) return spec.error();
      compressed += spec->rows == ArraySpec::Rows::compressed ? 1 : 0;
      files = files || spec->rows == ArraySpec::Rows::files;
      out.spec.arrays.push_back(std::move(*spec));
    }
    if (compressed > 1 || (files && out.store != "folder")) return not_ours(path);
    for (const auto& [name, value] : json.at("attributes").items()) {
      out.spec.attributes.emplace_back(name, value.get<std::string>());
    }
    // With kMaxRowBytes a row, the total is below what 64 bits hold.
    constexpr std::uint64_t kMaxRows = std::uint64_t{1} << 32;
    if (out.spec.arrays.empty() || !is_identifier(out.spec.unit) || out.parts.rows == 0 || out.parts.rows > kMaxRows ||
        out.parts.each == 0 || out.parts.each > kMaxRows || out.parts.count() > kMaxShards) {
      return not_ours(path);
    }
    return out;
  } catch (const Json::Error&) {
    return not_ours(path);
  }
}

Outcome<RunsFile> read_runs_file(const std::string& path) {
  const auto text = read_text(path, kMaxFileBytes);
  if (!text) return text.error();
  try {
    const Json json = Json::parse_or_null(*text);
    RunsFile out{json.at("of").get<std::uint64_t>(), json.at("version").get<std::string>()};
    if (out.of == 0) return not_ours(path);
    return out;
  } catch (const Json::Error&) {
    return not_ours(path);
  }
}

void check_run_count(const RunFolder& folder, const ShardSpec& share) {
  const std::string path = folder.path(kRunsFile);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    write_if_absent(path, Json{{"of", share.of}, {"version", version()}}.dump(1) + "\n");
  }
  const RunsFile there = read_runs_file(path).or_throw();
  if (there.of != share.of) {
    throw Failure(ErrorCode::conflict,
                  fmt::format("its shards are shared by {} runs, and this is one of {}", group_digits(there.of),
                              group_digits(share.of)),
                  folder.name(),
                  fmt::format("use --part K/{}, or make all missing shards without --part when no other run is active",
                              there.of));
  }
  if (there.version != version()) {
    throw Failure(
        ErrorCode::conflict,
        fmt::format("its shards are made by Millrace {}, and this is {}", escape_unprintable(there.version), version()),
        folder.name(), "use that version for all runs, or make all missing shards without --part");
  }
}

void write_if_absent(const std::string& path, const std::string& text) {
  try {
    AtomicFile file(path, OverwritePolicy{.any_file = false, .examined = {}}, ReadAccess::everyone);
    file.write(text);
    file.commit();
  } catch (const Failure& failure) {
    if (failure.error().code != ErrorCode::conflict) throw;
  }
}

void remove_leftover_folder(RunFolder& folder, const Attributes& provenance) {
  if (!folder.hold_leftover()) return;
  const auto there = read_json_attributes(folder.path(RunFolder::kRunFile));
  if (there && describe_differences(*there, provenance).empty()) return folder.remove();
  folder.abandon();
}

}  // namespace millrace
