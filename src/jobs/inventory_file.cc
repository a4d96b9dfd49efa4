#include "src/jobs/inventory_file.h"

#include <fmt/format.h>

#include "src/base/json.h"
#include "src/base/parse_values.h"
#include "src/base/text.h"
#include "src/io/file/lines.h"
#include "src/io/output/output.h"
#include "src/report/json_path.h"

namespace millrace {
namespace {

constexpr const char* kName = "inventory";

std::uint64_t number_in(const Json& line, const char* name) { return line.at(name).get<std::uint64_t>(); }

// Adds one line of the inventory to `out`; returns false if it is not a valid line.
bool take(const Json& line, WalkResult& out) {
  auto path = path_of(line);
  if (!path) return false;
  if (const auto error = line.find("error")) {
    out.unreadable.push_back(
        {ErrorCode::io, error->get<std::string>(), std::move(*path), line.value("remedy", std::string())});
    return true;
  }
  FileEntry file;
  file.path = std::move(*path);
  file.size = number_in(line, "bytes");
  if (!read_number(line.at("mtime_ns").get<std::string>(), file.mtime_ns)) return false;
  // Each path must occur once, in sorted order: the results depend on that order.
  if (!out.files.empty() && !(out.files.back().path < file.path)) return false;
  out.files.push_back(std::move(file));
  return true;
}

}  // namespace

std::string identity_of(std::span<const FileEntry> files, std::span<const Error> unreadable) {
  // Replaces the buffered entries by their hash as soon as there are enough, so that a hundred million of them need
  // little memory.
  constexpr std::size_t kTogether = 1 << 16;
  std::string all;
  const auto fold = [&all] {
    if (all.size() <= kTogether) return;
    const ContentHash hash = content_hash(all);
    all.assign(hash.begin(), hash.end());
  };
  for (const FileEntry& file : files) {
    all += file.path;
    all += '\0';
    all += fmt::format("{} {}\n", file.size, file.mtime_ns);
    fold();
  }
  for (const Error& error : unreadable) {
    all += error.subject;
    all += '\0';
    all += replace_invalid_utf8(error.what);
    all += '\0';
    fold();
  }
  return hex_of_bytes(content_hash(all));
}

void write_inventory(const WalkResult& found, const std::function<void(std::string_view)>& write) {
  std::uint64_t bytes = 0;
  for (const FileEntry& file : found.files) bytes += file.size;
  write(Json{{kJsonMark, kName},
             {"files", found.files.size()},
             {"unreadable", found.unreadable.size()},
             {"bytes", bytes},
             {"identity", identity_of(found.files, found.unreadable)}}
            .dump() +
        "\n");
  for (const FileEntry& file : found.files) {
    Json line;
    add_path(line, file.path);
    line["bytes"] = file.size;
    line["mtime_ns"] = std::to_string(file.mtime_ns);
    write(line.dump() + "\n");
  }
  for (const Error& error : found.unreadable) {
    Json line;
    add_path(line, error.subject);
    line["error"] = replace_invalid_utf8(error.what);
    line["remedy"] = replace_invalid_utf8(error.remedy);
    write(line.dump() + "\n");
  }
}

void refuse_walking(const FolderOptions& options) {
  if (options.exclude.empty() && !options.hidden && !options.links.follow_symlinks && !options.links.cross_file_systems)
    return;
  throw Failure(ErrorCode::usage, "it cannot be combined with options for searching folders", "--inventory",
                "give --exclude, --hidden, --follow-symlinks and --cross-file-systems to millrace inventory instead");
}

Outcome<WalkResult> read_inventory(const std::string& path) {
  const Error bad{ErrorCode::bad_data, "it is not an inventory, or was changed after it was written",
                  escape_unprintable(path), "make it with millrace inventory"};
  auto file = FileReader::open(path, FileReader::Hashing::off);
  if (!file) return file.error();
  try {
    WalkResult out;
    Json head;
    std::size_t number = 0;
    const auto take_line = [&](const std::string& text) {
      const Json line = Json::parse_or_null(text);
      if (number++ > 0) return take(line, out);
      head = line;
      return line.is_object() && line.value(kJsonMark, std::string()) == kName;
    };
    // The limit is per line: the file may have a hundred million lines.
    constexpr std::size_t kMaxLineBytes = 1 << 20;
    const auto taken = for_each_line(**file, kMaxLineBytes, take_line);
    if (!taken) return taken.error();
    if (!*taken) return bad;
    if (number == 0 || number_in(head, "files") != out.files.size() ||
        number_in(head, "unreadable") != out.unreadable.size() ||
        head.at("identity").get<std::string>() != identity_of(out.files, out.unreadable)) {
      return bad;
    }
    return out;
  } catch (const Json::Error&) {
    return bad;
  }
}

}  // namespace millrace
