#include "src/jobs/latents/group_table.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "src/base/text.h"
#include "src/io/file/file_reader.h"
#include "src/io/table/csv.h"

namespace millrace::latents {
namespace {

// Normalizes a path below the folder: removes "./", "/" and "latents/" in front, and "/" at the end.
std::string video_name(std::string_view text) {
  for (bool more = true; more;) {
    more = false;
    for (const std::string_view front : {"./", "/", "latents/"}) {
      if (!text.starts_with(front) || text.size() == front.size()) continue;
      text.remove_prefix(front.size());
      more = true;
    }
  }
  while (text.ends_with('/')) text.remove_suffix(1);
  return std::string(text);
}

}  // namespace

GroupTable GroupTable::read(const std::string& path) {
  const auto file = FileReader::open(path, FileReader::Hashing::off).or_throw();
  CsvReader rows([&] { return file->next(); }, escape_unprintable(path));
  GroupTable out;
  out.path_ = path;
  std::optional<std::size_t> video, group;
  while (rows.next()) {
    const auto cells = rows.cells();
    if (!video) {
      for (std::size_t i = 0; i < cells.size(); ++i) {
        for (const auto& [title, column] : {std::pair{"video", &video}, {"group", &group}}) {
          if (lower_ascii(trim(cells[i])) != title) continue;
          if (*column) throw rows.make_row_error(fmt::format("it has two columns '{}'", title), "remove one of them");
          *column = i;
        }
      }
      if (video && group) continue;
      throw rows.make_row_error(
          "its first line does not name the columns 'video' and 'group'",
          "start it with video,group; or remove the file, to use the folders of the videos as groups");
    }
    const std::string name = video_name(trim(cells[*video]));
    const std::string of(trim(cells[*group]));
    if (name.empty() || of.empty()) throw rows.make_row_error("the name of a video or of its group is empty");
    if (!is_utf8(name) || !is_utf8(of)) throw rows.make_row_error("a name is not UTF-8");
    constexpr std::size_t kMaxNameBytes = 255;  // bytes that a folder's name may have
    if (of.size() > kMaxNameBytes)
      throw rows.make_row_error(fmt::format("the name of a group is too long; the limit is {} bytes", kMaxNameBytes));
    const auto [at, fresh] = out.groups_.emplace(name, of);
    if (!fresh && at->second != of)
      throw rows.make_row_error("it lists '" + escape_unprintable(name) + "' twice, with different groups");
  }
  if (file->failed()) throw Failure(file->error());
  return out;
}

std::optional<std::string> GroupTable::group_of(const std::string& below) {
  for (const std::string& name : {below, std::string(file_name(below))}) {
    const auto found = groups_.find(name);
    if (found == groups_.end()) continue;
    const auto [at, fresh] = used_.emplace(name, below);
    if (!fresh && at->second != below) {
      throw Failure(ErrorCode::bad_data,
                    fmt::format("the video '{}' can be {} or {}", escape_unprintable(name),
                                escape_unprintable(at->second), escape_unprintable(below)),
                    escape_unprintable(path_), "write its path below the folder, for example GROUP/VIDEO");
    }
    return found->second;
  }
  return std::nullopt;
}

std::vector<std::string> GroupTable::unused() const {
  std::vector<std::string> out;
  for (const auto& [name, group] : groups_)
    if (!used_.contains(name)) out.push_back(name);
  return out;
}

std::optional<GroupTable> GroupTable::find(const std::string& root) {
  for (const char* below : {"", "latents/"}) {
    const std::string path = (root.ends_with('/') ? root : root + "/") + below + kGroupsFile;
    // A dangling link counts too: read() then reports it.
    struct stat info {};
    if (::lstat(path.c_str(), &info) == 0 || (errno != ENOENT && errno != ENOTDIR)) return read(path);
  }
  return std::nullopt;
}

}  // namespace millrace::latents
