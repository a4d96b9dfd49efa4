#include "src/io/file/trusted_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/atomic_file.h"

namespace millrace {
namespace {

constexpr unsigned kGroupWrites = 020, kOthersWrite = 002, kOthers = 077;

// Returns an empty string if no home folder is found.
std::string user_folder(const char* variable, const char* below_home) {
  const char* named = std::getenv(variable);
  // The specification says to ignore a relative path.
  if (named != nullptr && named[0] == '/') return std::string(named) + "/millrace";
  const char* home = std::getenv("HOME");
  if (home == nullptr || home[0] != '/') {
    const passwd* const user = ::getpwuid(::geteuid());
    home = user == nullptr ? nullptr : user->pw_dir;
  }
  if (home == nullptr || home[0] != '/') return "";
  return std::string(home) + "/" + below_home + "/millrace";
}

std::string data_folder() {
  std::string out = user_folder("XDG_DATA_HOME", ".local/share");
  if (!out.empty()) return out;
  throw Failure(ErrorCode::usage, "no home folder was found for the files that are kept between runs", "HOME",
                "set HOME or XDG_DATA_HOME, or give the files with options such as --catalog and --journal");
}

std::string name_of_user(std::uint32_t id) {
  const passwd* const user = ::getpwuid(id);
  return user == nullptr ? fmt::format("user {}", id) : fmt::format("{} ({})", user->pw_name, id);
}

// Returns true for a group that has only this user. Distributions that make a group for each user let it write to all
// files that the user creates.
bool is_private_group(std::uint32_t id) {
  const passwd* const user = ::getpwuid(::geteuid());
  // Group 0 is never a private group, whoever has it.
  if (user == nullptr || id == 0 || user->pw_gid != id) return false;
  const std::string name = user->pw_name;
  const group* const found = ::getgrgid(id);
  if (found == nullptr || name != found->gr_name) return false;
  for (char** member = found->gr_mem; *member != nullptr; ++member) {
    if (name != *member) return false;
  }
  // Other users may have it as their first group, which gr_mem does not list.
  bool alone = true;
  ::setpwent();
  while (const passwd* const other = ::getpwent()) alone = alone && (other->pw_gid != id || name == other->pw_name);
  ::endpwent();
  return alone;
}

// Returns the reason why an open file or folder is not trusted, and a remedy; nullopt if it is trusted.
std::optional<Error> doubt(int fd, const FileState& state, const std::string& path, bool folder) {
  const std::uint32_t me = ::geteuid();
  const char* const what = folder ? "its folder" : "it";
  const std::string named = folder ? folder_of(path) : path;
  const auto untrusted_error = [&](const std::string& why, const std::string& remedy) {
    return Error{ErrorCode::conflict, "not trusted: " + why, escape_unprintable(path),
                 remedy + "; if the file system has no owners and permissions, add --trust-files"};
  };
  const std::string elsewhere = "choose a file in a private folder (mkdir -m 700 FOLDER creates one)";
  if (state.owner != me && !(folder && state.owner == 0)) {
    return untrusted_error(
        fmt::format("{} belongs to {}, not to {}", what, name_of_user(state.owner), name_of_user(me)), elsewhere);
  }
  if (!can_others_write(fd, state)) return std::nullopt;
  const bool for_all = folder && (state.owner != me || (state.mode & S_ISVTX) != 0);
  return untrusted_error(
      fmt::format("other users can write to {} (mode {:04o})", what, state.mode),
      for_all ? elsewhere : fmt::format("run chmod go-w '{}', or {}", escape_unprintable(named), elsewhere));
}

// Closes a file or folder of the user's data folder to group and others. Earlier versions left it open to everyone who
// could reach it.
void tighten(int fd, const std::string& path, FileState& state) {
  if (state.owner != ::geteuid() || (state.mode & kOthers) == 0 || !is_in_data_folder(path)) return;
  if (::fchmod(fd, state.mode & 0700) == 0) state.mode &= 0700;
}

// Opens the folder of a file that must be trusted. Links on the way are the user's choice; the folder that they lead to
// is checked.
Descriptor open_folder_of(const std::string& path) {
  const std::string folder = folder_of(path);
  Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) throw Failure(system_error("its folder cannot be opened", escape_unprintable(path), errno));
  return fd;
}

// Throws Failure if others can exchange a folder above: who may rename a folder can put another one in its place.
// `above` is the first folder that is checked.
void believe_above(std::string above, const std::string& path) {
  for (;; above = folder_of(above)) {
    // Access lists can be read only from a folder that is open for reading. If that is not allowed, only the mode is
    // checked.
    Descriptor fd(::open(above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const bool listed = static_cast<bool>(fd);
    if (!listed) fd = Descriptor(::open(above.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    auto state = fd ? state_of_descriptor(fd.get()) : std::nullopt;
    if (!state) throw Failure(system_error("cannot be examined", escape_unprintable(above), errno));
    if (listed) tighten(fd.get(), above, *state);
    const bool shared =
        listed ? can_others_write(fd.get(), *state) : (state->mode & (kGroupWrites | kOthersWrite)) != 0;
    if ((state->owner != ::geteuid() && state->owner != 0) || (shared && (state->mode & S_ISVTX) == 0)) {
      throw Failure(
          ErrorCode::conflict,
          fmt::format("not trusted: other users can replace folders in {} (owner {}, mode {:04o})",
                      escape_unprintable(above), name_of_user(state->owner), state->mode),
          escape_unprintable(path),
          "choose a file in a private folder whose parent folders belong to you or root; if the file system has no "
          "owners and permissions, add --trust-files");
    }
    if (above == "/" || above == ".") return;
  }
}

void believe(int fd, const std::string& path, bool folder, Trust trust) {
  auto state = state_of_descriptor(fd);
  if (!state) throw Failure(system_error("cannot be examined", escape_unprintable(path), errno));
  tighten(fd, folder ? folder_of(path) : path, *state);
  if (!folder && !state->regular)
    throw Failure(ErrorCode::conflict, "it is not a regular file", escape_unprintable(path));
  if (trust == Trust::files) return;
  if (auto error = doubt(fd, *state, path, folder)) throw Failure(std::move(*error));
  if (folder) believe_above(folder_of(real_path(folder_of(path)).value_or(folder_of(path))), path);
}

// Checks the existing folders before any folder is made: root's folders in another user's home would lock that user
// out.
void believe_before_making(const std::string& file, Trust trust) {
  std::string there = folder_of(file);
  if (trust == Trust::files || real_path(there)) return;
  while (there != "/" && there != "." && !real_path(there)) there = folder_of(there);
  believe_above(real_path(there).value_or(there), file);
}

}  // namespace

bool can_others_write(int fd, const FileState& state) {
  if ((state.mode & kOthersWrite) != 0) return true;
  if ((state.mode & kGroupWrites) == 0) return false;
  // With an access list, the group's bits are its mask: the most that any entry on it grants.
  if (::fgetxattr(fd, "system.posix_acl_access", nullptr, 0) > 0) return true;
  return !is_private_group(state.group);
}

bool is_in_data_folder(const std::string& path) {
  try {
    const std::string folder = data_folder();
    // The path may be resolved while the path of the home folder contains a link.
    return is_inside(path, folder) || is_inside(path, real_path(folder).value_or(folder));
  } catch (const Failure&) {
    return false;
  }
}

std::string data_path(const std::string& name) { return data_folder() + "/" + name; }

std::string cache_path(const std::string& name) {
  const std::string folder = user_folder("XDG_CACHE_HOME", ".cache");
  return folder.empty() ? "" : folder + "/" + name;
}

void make_private_folders(const std::string& folder) {
  for (std::size_t at = 1; at != std::string::npos;) {
    at = folder.find('/', at);
    const std::string part = folder.substr(0, at);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      const int reason = errno;
      struct stat info {};
      if (::stat(part.c_str(), &info) != 0)
        throw Failure(system_error("the folder cannot be created", escape_unprintable(part), reason));
    }
    if (at != std::string::npos) ++at;
  }
}

bool is_trusted_folder(const std::string& path) {
  const auto folder = open_folder(path);
  const auto state = folder ? state_of_descriptor(folder->get()) : std::nullopt;
  return state && state->owner == ::geteuid() && !can_others_write(folder->get(), *state);
}

Outcome<void> make_trusted_folder(const std::string& path) {
  const auto entry = DirectoryEntry::make(path);
  if (!entry) return entry.error();
  if (::mkdirat(entry->folder(), entry->name(), 0700) != 0 && errno != EEXIST) {
    return system_error("the folder cannot be created", escape_unprintable(path), errno);
  }
  entry->sync_folder();
  if (is_trusted_folder(path)) return {};
  return Error{ErrorCode::conflict, "another program created this folder at the same time", escape_unprintable(path),
               "run the same command again"};
}

void prepare_trusted_folder(const std::string& file, Trust trust) {
  believe_before_making(file, trust);
  make_private_folders(folder_of(file));
  // The data folder itself is checked too: a user who may write there may exchange the folders in it.
  if (is_in_data_folder(file)) {
    const std::string top = data_path("x");
    if (folder_of(file) != folder_of(top)) believe(open_folder_of(top).get(), top, true, trust);
  }
  believe(open_folder_of(file).get(), file, true, trust);
}

Descriptor open_trusted_file(const std::string& path, Trust trust, bool write, bool create) {
  const Descriptor folder = open_folder_of(path);
  believe(folder.get(), path, true, trust);
  const std::string name(file_name(path));
  const int how = (write ? O_RDWR | O_APPEND : O_RDONLY) | (create ? O_CREAT : 0);
  Descriptor fd(::openat(folder.get(), name.c_str(), how | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600));
  if (!fd) {
    if (errno == ELOOP) {
      const auto target = real_path(path);
      throw Failure(ErrorCode::conflict, "it is a symbolic link, which is not followed", escape_unprintable(path),
                    target ? "give the file that it points to: " + escape_unprintable(*target)
                           : "it points to no file: remove the link");
    }
    throw Failure(system_error("cannot be opened", escape_unprintable(path), errno));
  }
  believe(fd.get(), path, false, trust);
  return fd;
}

Outcome<void> verify_trusted_file(const std::string& path, Trust trust) {
  try {
    open_trusted_file(path, trust, false, false);
  } catch (const Failure& failure) {
    if (failure.error().code != ErrorCode::not_found) return failure.error();
  }
  return {};
}

}  // namespace millrace
