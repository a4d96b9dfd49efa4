#include "src/io/file/trash.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <ctime>
#include <memory>
#include <utility>

#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/io/file/file_reader.h"
#include "src/io/file/folder_names.h"
#include "src/io/file/trusted_file.h"

namespace millrace {
namespace {

constexpr std::size_t kMaxNote = 64 * 1024;

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

// Encodes a path by RFC 2396, as the trash specification asks; slashes are kept.
std::string percent_encoded(std::string_view path) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.!~*'()/";
  std::string out;
  for (const char c : path) {
    out += kPlain.find(c) != std::string_view::npos ? std::string(1, c)
                                                    : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string note_of(const std::string& trashed) {
  return folder_of(folder_of(trashed)) + "/info/" + std::string(file_name(trashed)) + ".trashinfo";
}

// Returns the original path of a trashed file from its note (.trashinfo). A trash at a drive's top notes paths relative
// to the top. Empty if there is no note that belongs to the user.
std::string original_path(const std::string& note, const std::string& top) {
  const auto entry = DirectoryEntry::make(note);
  if (!entry) return "";
  auto file = entry->open();
  if (!file) return "";
  const auto state = state_of_descriptor(file->get());
  if (!state || state->owner != ::geteuid() || state->size > kMaxNote) return "";
  auto reader = FileReader::make(std::move(file).value(), note, FileReader::Hashing::off);
  if (!reader) return "";
  const auto text = read_text(**reader, kMaxNote);
  if (!text) return "";
  for (const std::string& line : split(*text, '\n')) {
    if (!line.starts_with("Path=")) continue;
    std::string path = percent_decoded(trim(std::string_view(line).substr(5)));
    return path.starts_with('/') ? path : join_path(top, path);
  }
  return "";
}

// Owner of a trash's folder: somebody else; the user, but others may write; the user alone.
enum class Whose : std::uint8_t { others, shared, own };
Whose whose_folder(const std::string& path) {
  const auto folder = open_folder(path);
  const auto state = folder ? state_of_descriptor(folder->get()) : std::nullopt;
  if (!state || state->owner != ::geteuid()) return Whose::others;
  return can_others_write(folder->get(), *state) ? Whose::shared : Whose::own;
}

std::string home_trash() {
  try {
    // $XDG_DATA_HOME/Trash; the folders above may be links of the user's own.
    const std::string data = folder_of(folder_of(data_path("x")));
    return real_path(data).value_or(data) + "/Trash";
  } catch (const Failure&) {
    return "";
  }
}

// Returns the device of a path, or of the nearest existing folder above it.
std::optional<std::uint64_t> device_of(std::string path) {
  struct stat info {};
  while (::stat(path.c_str(), &info) != 0) {
    if (path == "/" || path.empty()) return {};
    path = folder_of(path);
  }
  return info.st_dev;
}

// Returns the top of the mounted file system that holds a file. Mounts are compared, not only devices: a folder may be
// mounted twice, and renames do not cross from one mount to the other.
std::string top_of(const std::string& file) {
  const auto mount_of = [](const std::string& folder) {
    struct statx info {};
    if (::statx(AT_FDCWD, folder.c_str(), AT_SYMLINK_NOFOLLOW, STATX_MNT_ID, &info) != 0)
      return std::pair<std::uint64_t, std::uint64_t>();
    const std::uint64_t device = std::uint64_t{info.stx_dev_major} << 32 | info.stx_dev_minor;
    return std::pair<std::uint64_t, std::uint64_t>{device, (info.stx_mask & STATX_MNT_ID) != 0 ? info.stx_mnt_id : 0};
  };
  std::string top = folder_of(file);
  const auto mount = mount_of(top);
  while (top != "/" && mount_of(folder_of(top)) == mount) top = folder_of(top);
  return top;
}

// Returns true if the top of a drive has a .Trash that an administrator made usable (sticky).
bool shared_trash(const std::string& top) {
  const auto folder = open_folder(join_path(top, ".Trash"));
  if (!folder) return false;
  const auto state = state_of_descriptor(folder->get());
  return state && (state->mode & S_ISVTX) != 0;
}

// Makes a trash and its two folders if they are missing; returns the reason if the trash cannot be used.
Outcome<void> prepare(const std::string& trash) {
  for (const char* part : {"", "/files", "/info"}) {
    if (auto made = make_folders_no_follow(trash + part, 0700); !made.ok()) {
      made.error().what =
          fmt::format("the trash folder {} cannot be created: {}", escape_unprintable(trash), made.error().what);
      return made;
    }
    if (whose_folder(trash + part) == Whose::others) {
      return Error{ErrorCode::conflict,
                   fmt::format("the trash folder {} belongs to another user", escape_unprintable(trash + part)),
                   escape_unprintable(trash), ""};
    }
  }
  return {};
}

// Returns "a.jpg", "a.2.jpg", "a.3.jpg"; shorter if the note's name would be too long.
std::string numbered(std::string_view name, int number) {
  constexpr std::size_t kMaxName = 255, kNoteAndNumber = 20, kMaxEnding = 16;
  std::string out(name);
  if (const std::size_t most = kMaxName - kNoteAndNumber; out.size() > most) {
    const std::size_t dot = out.find_last_of('.');
    const std::string ending = dot == std::string::npos || out.size() - dot > kMaxEnding ? "" : out.substr(dot);
    std::size_t end = most - ending.size();
    while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xC0) == 0x80) --end;  // not inside a character
    out = out.substr(0, end) + ending;
  }
  const std::size_t dot = name.find_last_of('.');
  if (number > 1) out.insert(dot == std::string_view::npos || dot == 0 ? out.size() : dot, fmt::format(".{}", number));
  return out;
}

// Moves a file into a trash. Error(unsupported) if the trash turns out to be on another file system.
Outcome<void> put_in(const std::string& trash, const std::string& noted_path, const std::string& path,
                     const FileState& expected) {
  if (auto ready = prepare(trash); !ready.ok()) return ready;
  const std::time_t now = std::time(nullptr);
  const std::string text = fmt::format("[Trash Info]\nPath={}\nDeletionDate={:%Y-%m-%dT%H:%M:%S}\n",
                                       percent_encoded(noted_path), fmt::localtime(now));
  for (int number = 1;; ++number) {
    const std::string file = trash + "/files/" + numbered(file_name(path), number);
    const auto note = DirectoryEntry::make(note_of(file));
    if (!note) return note.error();
    // The note is written first, and only if the name has none: it reserves the name.
    call_step_hook("note what goes into the trash");
    const Descriptor out(
        ::openat(note->folder(), note->name(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!out && errno == EEXIST) continue;
    if (!out)
      return system_error("the trash's record of the file cannot be written", escape_unprintable(note->path()), errno);
    try {
      write_all(out.get(), text, note->path());
      if (::fsync(out.get()) != 0)
        throw Failure(system_error("cannot be synced", escape_unprintable(note->path()), errno));
    } catch (const Failure& failure) {
      note->unlink();
      Error error = failure.error();
      error.what = "the trash's record of the file cannot be written: " + error.what;
      return error;
    }
    note->sync_folder();
    auto done = rename_new(path, file, expected);
    // The owner of the drive's top folder may have exchanged our trash for another one meanwhile.
    if (done.ok() && whose_folder(trash + "/files") == Whose::others) {
      done = rename_new(file, path, expected);
      if (done.ok())
        done = Error{ErrorCode::conflict, "another user replaced the trash folder meanwhile; the file was moved back",
                     escape_unprintable(trash), ""};
      note->unlink();
      return done;
    }
    if (done.ok()) return done;
    // If the file went in and could not come back, its note is kept, with its original path.
    if (exists(file) && !exists(path)) return done;
    note->unlink();
    if (done.error().code != ErrorCode::conflict || !exists(file)) return done;
  }
}

}  // namespace

Outcome<void> move_to_trash(const std::string& path, const FileState& expected) {
  const std::string home = home_trash();
  if (!home.empty() && device_of(home) == expected.device) {
    auto done = put_in(home, path, path, expected);
    if (done.ok() || done.error().code != ErrorCode::unsupported) return done;
  }
  const std::string top = top_of(path), user = std::to_string(::geteuid());
  const std::string noted = path.substr(top == "/" ? 1 : top.size() + 1);
  if (shared_trash(top)) {
    auto done = put_in(join_path(top, ".Trash/" + user), noted, path, expected);
    if (done.ok() || done.error().code == ErrorCode::conflict) return done;
  }
  auto done = put_in(join_path(top, ".Trash-" + user), noted, path, expected);
  if (!done.ok() && done.error().code != ErrorCode::conflict && done.error().code != ErrorCode::not_found)
    done.error().remedy = "without a usable trash, choose --action move=DIR or --action delete";
  return done;
}

const std::vector<TrashSearch::Trashed>& TrashSearch::listing(const std::string& trash, const std::string& top) {
  const auto [at, fresh] = listings_.try_emplace(trash);
  if (!fresh) return at->second;
  // If others may write there, the notes may be theirs: a file is then identified by its inode alone.
  bool notes_count = true;
  for (const char* part : {"", "/files", "/info"}) {
    const Whose whose = whose_folder(trash + part);
    if (whose == Whose::others && std::string_view(part) != "/info") return at->second;
    notes_count = notes_count && whose == Whose::own;
  }
  const std::string files = trash + "/files";
  auto folder = open_folder(files);
  if (!folder) return at->second;
  for (const std::string& name : list_names(folder->get())) {
    Trashed item{fmt::format("{}/{}", files, name), "", {}};
    const auto state = state_of(item.file);
    if (!state || !state->regular) continue;
    item.state = *state;
    if (notes_count) item.original = original_path(note_of(item.file), top);
    at->second.push_back(std::move(item));
  }
  return at->second;
}

std::optional<std::string> TrashSearch::find(const std::string& path, const FileState& before) {
  const std::string user = std::to_string(::geteuid()), home = home_trash();
  std::vector<std::pair<std::string, std::string>> trashes;
  if (!home.empty()) trashes.emplace_back(home, "/");
  for (std::string folder = folder_of(path);; folder = folder_of(folder)) {
    if (shared_trash(folder)) trashes.emplace_back(join_path(folder, ".Trash/" + user), folder);
    trashes.emplace_back(join_path(folder, ".Trash-" + user), folder);
    if (folder == "/" || folder == ".") break;
  }
  // The inode identifies the file even among several with one name; the note distinguishes hard links of one file. A
  // trash that was copied elsewhere and back has new inodes: name, size and time must then suffice.
  std::optional<std::string> by_inode, by_note;
  for (const auto& [trash, top] : trashes) {
    for (const Trashed& item : listing(trash, top)) {
      if (!exists(item.file)) continue;
      const bool noted = item.original == path;
      // A file that was touched or edited in the trash still matches if its note and its inode match.
      if (!item.state.has_same_size_and_time(before) && !(noted && item.state.has_same_inode(before))) continue;
      if (item.state.has_same_inode(before)) {
        if (noted) return item.file;
        if (item.original.empty() || item.state.links == 1) by_inode = item.file;
      } else if (noted) {
        by_note = item.file;
      }
    }
  }
  return by_inode ? by_inode : by_note;
}

void TrashSearch::remove_note(const std::string& trashed) { remove_unneeded_file(note_of(trashed)); }

}  // namespace millrace
