#include "src/io/file/trash.h"

#include <dirent.h>
#include <fmt/format.h>
#include <gio/gio.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <memory>

#include "src/base/text.h"
#include "src/io/file/atomic_file.h"

namespace millrace {
namespace {

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16).ptr == text.data() + i + 3) {
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// The original place of a trashed file by its note; a trash at a drive's top notes paths relative to it.
std::string original_place(const std::string& note, const std::string& top) {
  std::ifstream in(note, std::ios::binary);
  std::string line;
  while (std::getline(in, line)) {
    if (!line.starts_with("Path=")) continue;
    std::string path = percent_decoded(trim(std::string_view(line).substr(5)));
    return path.starts_with('/') ? path : (top == "/" ? "" : top) + "/" + path;
  }
  return "";
}

std::string note_of(const std::string& trashed) {
  return folder_of(folder_of(trashed)) + "/info/" + std::string(file_name(trashed)) + ".trashinfo";
}

}  // namespace

std::optional<Error> move_to_trash(const std::string& path) {
  // The local file system directly: the default one may ask a desktop's service that is not running.
  const std::unique_ptr<GFile, void (*)(gpointer)> file(g_vfs_get_file_for_path(g_vfs_get_local(), path.c_str()),
                                                        g_object_unref);
  GError* problem = nullptr;
  if (g_file_trash(file.get(), nullptr, &problem) != 0) {
    sync_folder(folder_of(path));
    return std::nullopt;
  }
  const std::unique_ptr<GError, void (*)(GError*)> owned(problem, g_error_free);
  Error error{ErrorCode::io, fmt::format("cannot be put into the trash: {}", utf8_for_display(owned->message)),
              printable(path), ""};
  if (owned->code == G_IO_ERROR_NOT_FOUND) error.code = ErrorCode::not_found;
  if (owned->code == G_IO_ERROR_NOT_SUPPORTED)
    error.remedy = "this place has no trash: use --action move=DIR or delete";
  return error;
}

const std::vector<TrashSearch::Trashed>& TrashSearch::listing(const std::string& trash, const std::string& top) {
  const auto [at, fresh] = listings_.try_emplace(trash);
  if (!fresh) return at->second;
  const std::string files = trash + "/files";
  const std::unique_ptr<DIR, int (*)(DIR*)> handle(::opendir(files.c_str()), ::closedir);
  if (!handle) return at->second;
  while (const dirent* entry = ::readdir(handle.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    Trashed item{fmt::format("{}/{}", files, name), "", {}};
    const auto state = state_of(item.file);
    if (!state || !state->regular) continue;
    item.state = *state;
    item.original = original_place(note_of(item.file), top);
    at->second.push_back(std::move(item));
  }
  return at->second;
}

std::optional<std::string> TrashSearch::find(const std::string& path, const FileState& before) {
  const std::string user = std::to_string(::getuid());
  std::vector<std::pair<std::string, std::string>> trashes = {{std::string(g_get_user_data_dir()) + "/Trash", "/"}};
  for (std::string folder = folder_of(path);; folder = folder_of(folder)) {
    const std::string start = folder == "/" ? "" : folder;
    trashes.emplace_back(fmt::format("{}/.Trash/{}", start, user), folder);
    trashes.emplace_back(fmt::format("{}/.Trash-{}", start, user), folder);
    if (folder == "/" || folder == ".") break;
  }
  // The inode tells the file even among several with one name; the note tells hard links of one file apart. A trash
  // that was copied elsewhere and back has new inodes: then name, size and time must do.
  std::optional<std::string> by_inode, by_note;
  for (const auto& [trash, top] : trashes) {
    for (const Trashed& item : listing(trash, top)) {
      if (!exists(item.file) || !item.state.same_look(before)) continue;
      const bool noted = item.original == path;
      if (item.state.same_inode(before)) {
        if (noted) return item.file;
        if (item.original.empty() || item.state.links == 1) by_inode = item.file;
      } else if (noted) {
        by_note = item.file;
      }
    }
  }
  return by_inode ? by_inode : by_note;
}

void TrashSearch::forget(const std::string& trashed) { ::unlink(note_of(trashed).c_str()); }

}  // namespace millrace
