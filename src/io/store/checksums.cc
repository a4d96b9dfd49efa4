#include "src/io/store/checksums.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>

#include "src/base/json.h"
#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/xxh3.h"
#include "src/io/store/shard_bytes.h"

namespace millrace {
namespace {

constexpr const char* kSelf = "self";
constexpr std::size_t kDigits = 16;

// Returns the offset of a file's own checksum in its text.
std::optional<std::size_t> own_digits(const std::string& text) {
  const std::string key = fmt::format("\"{}\":", kSelf);
  std::size_t at = text.find(key);
  if (at == std::string::npos) return std::nullopt;
  at = text.find('"', at + key.size());
  return at == std::string::npos || at + 1 + kDigits > text.size() ? std::nullopt : std::optional(at + 1);
}

bool stays_inside(const std::string& name) {
  if (name.empty() || name.front() == '/' || name.find('\0') != std::string::npos) return false;
  const std::vector<std::string> parts = split(name, '/');
  return std::none_of(parts.begin(), parts.end(),
                      [](const auto& part) { return part.empty() || part == "." || part == ".."; });
}

// Returns true if a range still has its digest. A file that is too short is damaged, not an error.
bool is_as_it_was(const std::string& folder, const FileDigest& file, const std::function<void()>& check_cancelled) {
  const FileRange there{.path = join_path(folder, file.name),
                        .at = file.at,
                        .count = file.files == 0 ? std::optional(file.bytes) : std::nullopt,
                        .is_folder = file.files != 0,
                        .name = file.name};
  try {
    return digests_of({there}, check_cancelled).front() == file;
  } catch (const Failure& failure) {
    if (failure.error().code == ErrorCode::cancelled) throw;
    return false;
  }
}

void add_files(std::span<const FileDigest> files, Json& list) {
  for (const FileDigest& file : files) {
    const Json name = is_utf8(file.name) ? Json(file.name) : Json{{"base64", to_base64(file.name)}};
    Json one = Json::array({name, file.at, file.bytes, fmt::format("{:016x}", file.hash)});
    if (file.files != 0) one.push_back(file.files);
    list.push_back(std::move(one));
  }
}

}  // namespace

std::optional<std::uint64_t> parse_hex(const std::string& hexadecimal) {
  constexpr int kBase = 16;
  std::uint64_t out = 0;
  const char* const end = hexadecimal.data() + hexadecimal.size();
  const auto [at, error] = std::from_chars(hexadecimal.data(), end, out, kBase);
  return error == std::errc() && at == end ? std::optional(out) : std::nullopt;
}

std::string json_of(std::span<const FileDigest> files) {
  Json out = Json::array();
  add_files(files, out);
  return out.dump();
}

std::string json_with_self_checksum(std::span<const FileDigest> files) {
  Json out = Json::array({Json{{kSelf, std::string(kDigits, '0')}}});
  add_files(files, out);
  return out.dump();
}

std::string add_self_checksum(std::string text) {
  if (const auto at = own_digits(text)) {
    text.replace(*at, kDigits, kDigits, '0');
    text.replace(*at, kDigits, fmt::format("{:016x}", XXH3_64bits(text.data(), text.size())));
  }
  return text;
}

std::optional<bool> verify_self_checksum(std::string text) {
  const auto at = own_digits(text);
  if (!at) return std::nullopt;
  const std::string stored = text.substr(*at, kDigits);
  return add_self_checksum(std::move(text)).substr(*at, kDigits) == stored;
}

std::vector<std::string> find_missing_or_short(const std::string& folder, std::span<const FileDigest> files) {
  std::vector<std::string> out;
  for (const FileDigest& file : files) {
    std::error_code error;
    const std::string path = join_path(folder, file.name);
    const bool there = file.files != 0 ? std::filesystem::is_directory(path, error)
                                       : std::filesystem::is_regular_file(path, error) &&
                                             std::filesystem::file_size(path, error) >= file.at + file.bytes;
    if (!there && (out.empty() || out.back() != file.name)) out.push_back(file.name);
  }
  return out;
}

std::optional<std::vector<FileDigest>> parse_checksums(std::string_view text) {
  try {
    const Json json = Json::parse_or_null(text);
    if (!json.is_array()) return std::nullopt;
    std::vector<FileDigest> out;
    for (const Json& one : json) {
      if (one.is_object() && one.contains(kSelf)) continue;
      if (!one.is_array() || one.size() < 4 || one.size() > 5) return std::nullopt;
      for (const std::size_t k : {1U, 2U, 4U})
        if (k < one.size() && !one.at(k).is_number_unsigned()) return std::nullopt;
      const auto hash = parse_hex(one.at(3).get<std::string>());
      const auto name = one.at(0).is_object() ? from_base64(one.at(0).at("base64").get<std::string>())
                                              : std::optional(one.at(0).get<std::string>());
      FileDigest file{name.value_or(""), one.at(2).get<std::uint64_t>(), hash.value_or(0),
                      one.at(1).get<std::uint64_t>(), one.size() > 4 ? one.at(4).get<std::uint64_t>() : 0};
      if (!hash || !stays_inside(file.name)) return std::nullopt;
      out.push_back(std::move(file));
    }
    return out;
  } catch (const Json::Error&) {
    return std::nullopt;
  }
}

ChecksumResult verify_checksums(const std::string& folder, std::span<const FileDigest> files,
                                const std::function<void()>& check_cancelled) {
  ChecksumResult out;
  std::set<std::string> names;
  for (const FileDigest& file : files) {
    check_cancelled();
    out.files += file.files != 0 ? file.files : names.insert(file.name).second ? 1 : 0;
    out.bytes += file.bytes;
    if (!is_as_it_was(folder, file, check_cancelled)) out.damaged.push_back(file.name);
  }
  // A file that continues after its last range is damaged.
  std::map<std::string, std::uint64_t> ends;
  for (const FileDigest& file : files) {
    if (file.files == 0) ends[file.name] = std::max(ends[file.name], file.at + file.bytes);
  }
  for (const auto& [name, end] : ends) {
    std::error_code error;
    const auto size = std::filesystem::file_size(join_path(folder, name), error);
    if (!error && size != end) out.damaged.push_back(name);
  }
  std::sort(out.damaged.begin(), out.damaged.end());
  out.damaged.erase(std::unique(out.damaged.begin(), out.damaged.end()), out.damaged.end());
  return out;
}

}  // namespace millrace
