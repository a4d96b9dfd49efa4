#include "src/io/file/walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <utility>

#include "src/base/text.h"
#include "src/io/file/directory_entry.h"
#include "src/io/file/running_hash.h"

namespace millrace {
namespace {

// Returns true for a file system that holds no files but shows the system's state as files (/proc, /sys).
bool is_system_state(const std::string& path) {
  struct statfs info {};
  return ::statfs(path.c_str(), &info) == 0 && (info.f_type == PROC_SUPER_MAGIC || info.f_type == SYSFS_MAGIC);
}

// Limit for links that lead to ever more links.
constexpr std::size_t kMaxLinks = 1'000'000;

class Walker {
 public:
  Walker(const WalkOptions& options, WalkResult& result) : options_(options), result_(result) {}

  void root(std::string path) {
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) {
      result_.unreadable.push_back(system_error("cannot be examined", escape_unprintable(path), errno));
      return;
    }
    devices_.insert(info.st_dev);
    if (S_ISDIR(info.st_mode)) {
      roots_.emplace_back(path, info);
    } else if (S_ISREG(info.st_mode)) {
      add(path, info);
    } else {
      result_.unreadable.push_back(
          {ErrorCode::unsupported, "neither a file nor a folder", escape_unprintable(path), ""});
    }
  }

  // Walks the roots after all of them are known: links may lead to any of their file systems.
  void folders() {
    for (const auto& [path, info] : roots_) folder(path, info, false);
  }

  // Follows symbolic links after all files in the folders themselves are found, so that a file's name depends on no
  // order. A link to a file that was found gives it no other name, unless `each_link` is set.
  void links() {
    std::map<std::string, struct stat> files;
    std::size_t followed = 0;
    while (!links_.empty() && !cancelled()) {
      const std::set<std::string> found = std::exchange(links_, {});
      for (const std::string& path : found) {
        struct stat info {};
        if (++followed > kMaxLinks) {
          result_.unreadable.push_back(
              {ErrorCode::unsupported,
               fmt::format("more than {} symbolic links were followed; this one and the rest are skipped", kMaxLinks),
               escape_unprintable(path), "give the folders that they point to"});
          links_.clear();
          break;
        }
        if (::stat(path.c_str(), &info) != 0) {
          result_.unreadable.push_back(system_error("cannot be examined", escape_unprintable(path), errno));
        } else if (options_.each_link && is_inside(path, info)) {
          result_.links.push_back(path);
        } else if (const char* why = not_followed(path, info); why != nullptr) {
          result_.unreadable.push_back({ErrorCode::unsupported, why, escape_unprintable(path), ""});
        } else if (S_ISDIR(info.st_mode)) {
          folder(path, info, true);
        } else if (S_ISREG(info.st_mode)) {
          files.emplace(path, info);
        }
      }
    }
    if (files.empty()) return;
    std::set<std::pair<dev_t, ino_t>> there;
    for (const FileEntry& file : result_.files) there.insert({file.device, file.inode});
    for (const auto& [path, info] : files) {
      if (options_.each_link) {
        add(path, info);
        continue;
      }
      if (there.insert({info.st_dev, info.st_ino}).second) add(path, info);
    }
  }

 private:
  bool cancelled() const { return options_.cancelled && options_.cancelled(); }

  // Returns the reason why a link is not followed; null if it is followed.
  const char* not_followed(const std::string& path, const struct stat& info) const {
    if (devices_.count(info.st_dev) > 0) return nullptr;
    if (is_system_state(path)) return "not followed: a link into /proc or /sys";
    if (options_.cross_file_systems) return nullptr;
    return "not followed: a link to another file system; --cross-file-systems follows it";
  }

  // Returns true if the link is inside the folder that it leads to: the folder would be entered again and again.
  static bool is_inside(const std::string& link, const struct stat& folder) {
    for (std::size_t end = link.rfind('/'); end != std::string::npos && end > 0; end = link.rfind('/', end - 1)) {
      struct stat info {};
      if (::stat(link.substr(0, end).c_str(), &info) == 0 && info.st_dev == folder.st_dev &&
          info.st_ino == folder.st_ino)
        return true;
    }
    return false;
  }

  // Returns true if a folder has to be listed: once, or with `each_link` under each name that links give it.
  bool enter(const struct stat& info, bool linked) {
    return entered_.insert({info.st_dev, info.st_ino}).second || (linked && options_.each_link);
  }

  bool excluded(const std::string& path) const {
    return std::any_of(options_.exclude.begin(), options_.exclude.end(),
                       [&](const std::string& pattern) { return glob_match(pattern, path); });
  }

  void add(const std::string& path, const struct stat& info) {
    result_.files.push_back({path, static_cast<std::uint64_t>(info.st_size), nanoseconds_of(info.st_mtim), info.st_dev,
                             info.st_ino, info.st_nlink, nanoseconds_of(info.st_ctim)});
  }

  std::vector<std::string> list_names(DIR* handle, const std::string& at) {
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = ::readdir(handle)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != ".." && (options_.hidden || !name.starts_with('.'))) names.emplace_back(name);
      errno = 0;
    }
    // The names that were read before the error are still used.
    if (errno != 0)
      result_.unreadable.push_back(
          system_error("the folder could be read only in part", escape_unprintable(at), errno));
    std::sort(names.begin(), names.end());
    return names;
  }

  // Folders wait in a list, not on the call stack: a tree may be deeper than the stack.
  void folder(const std::string& top, const struct stat& top_info, bool linked) {
    std::vector<std::string> open = {top};
    if (!enter(top_info, linked)) return;
    while (!open.empty() && !cancelled()) {
      const std::string at = std::move(open.back());
      open.pop_back();
      DIR* handle = ::opendir(at.c_str());
      if (handle == nullptr) {
        result_.unreadable.push_back(system_error("the folder cannot be read", escape_unprintable(at), errno));
        continue;
      }
      struct stat itself {};
      const dev_t device = ::fstat(::dirfd(handle), &itself) == 0 ? itself.st_dev : top_info.st_dev;
      // Names are sorted: if two ways lead to one folder, every run takes the same one.
      const std::vector<std::string> names = list_names(handle, at);
      for (const std::string& name : names) {
        std::string path = at == "/" ? "/" : at + "/";
        path += name;
        if (excluded(path)) continue;
        struct stat info {};
        if (::fstatat(::dirfd(handle), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
          result_.unreadable.push_back(system_error("cannot be examined", escape_unprintable(path), errno));
        } else if (S_ISDIR(info.st_mode)) {
          if (info.st_dev != device && devices_.count(info.st_dev) == 0) {
            if (is_system_state(path)) continue;
            // A file system that is mounted below a link's target needs the same permission as a link to it.
            if (const char* why = linked ? not_followed(path, info) : nullptr; why != nullptr) {
              result_.unreadable.push_back({ErrorCode::unsupported, why, escape_unprintable(path), ""});
              continue;
            }
          }
          // A folder that was entered already, by another name or a bind mount, is entered again only with `each_link`.
          if (enter(info, linked)) open.push_back(std::move(path));
        } else if (S_ISREG(info.st_mode)) {
          add(path, info);
        } else if (S_ISLNK(info.st_mode) && options_.follow_symlinks) {
          links_.insert(std::move(path));
        } else if (S_ISLNK(info.st_mode)) {
          result_.links.push_back(std::move(path));
        }
      }
      ::closedir(handle);
    }
  }

  const WalkOptions& options_;
  WalkResult& result_;
  std::vector<std::pair<std::string, struct stat>> roots_;
  std::set<dev_t> devices_;  // devices of the roots
  std::set<std::pair<dev_t, ino_t>> entered_;
  std::set<std::string> links_;  // links that are still to be followed
};

}  // namespace

std::optional<std::string> check_file_size(const FileEntry& file, Bytes most) {
  if (file.size <= most.count) return std::nullopt;
  return fmt::format("too large ({}; the limit is {}, set by --max-size)", format_bytes(Bytes{file.size}),
                     format_bytes(most));
}

WalkResult walk(std::vector<std::string> roots, const WalkOptions& options) {
  WalkResult result;
  Walker walker(options, result);
  std::sort(roots.begin(), roots.end());
  for (const std::string& root : roots) walker.root(root);
  walker.folders();
  walker.links();
  std::sort(result.files.begin(), result.files.end(),
            [](const FileEntry& a, const FileEntry& b) { return a.path < b.path; });
  result.files.erase(std::unique(result.files.begin(), result.files.end(),
                                 [](const FileEntry& a, const FileEntry& b) { return a.path == b.path; }),
                     result.files.end());
  std::sort(result.links.begin(), result.links.end());
  std::sort(result.unreadable.begin(), result.unreadable.end(),
            [](const Error& a, const Error& b) { return a.subject < b.subject; });
  return result;
}

std::uint64_t hash_file_states(std::span<const FileEntry> files) {
  RunningHash hash;
  for (const FileEntry& file : files) {
    if (file.ctime_ns == 0) return 0;
    const std::uint64_t numbers[] = {file.inode, static_cast<std::uint64_t>(file.ctime_ns)};
    hash.update(std::as_bytes(std::span(numbers)));
  }
  return hash.digest();
}

}  // namespace millrace
