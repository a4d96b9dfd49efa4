#include "src/jobs/dedupe/page/thumbs_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>

#include "src/base/error.h"
#include "src/io/file/atomic_file.h"

namespace millrace::dedupe {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kThumbsPerFolder = 1000;
// Empty file that marks the folder as this program's.
constexpr const char* kMark = ".millrace-thumbs";

[[noreturn]] void fail(const char* what, const std::string& subject) {
  throw Failure(system_error(what, subject, errno));
}

void make_folder(const std::string& path, unsigned mode, const std::string& subject) {
  if (::mkdir(path.c_str(), mode) != 0) fail("cannot create the folder", subject);
}

void write_thumb(const std::string& path, unsigned mode, std::string_view bytes, const std::string& subject) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (file < 0) fail("cannot create the file", subject);
  while (!bytes.empty()) {
    const ssize_t n = ::write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int number = errno;
      ::close(file);
      throw Failure(system_error("cannot write the file", subject, number));
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  if (::close(file) != 0) fail("cannot write the file", subject);
}

// Syncs the whole file system of the folder: one call for many thousand files.
void sync_all(const std::string& path, const std::string& subject) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) fail("cannot open the folder", subject);
  const int result = ::syncfs(descriptor);
  const int number = errno;
  ::close(descriptor);
  // Some network file systems do not support it; the rename itself is still atomic.
  if (result != 0 && number != EINVAL && number != ENOTSUP) {
    throw Failure(system_error("cannot write the folder to the disk", subject, number));
  }
}

bool is_all_digits(std::string_view text, std::size_t at_least) {
  return text.size() >= at_least && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// True if a folder holds only files that an earlier page put there, so that it may be replaced.
bool has_only_thumbs(const std::string& path) {
  for (const fs::directory_entry& folder : fs::directory_iterator(path)) {
    if (folder.path().filename() == kMark) continue;
    if (!folder.is_directory() || folder.is_symlink()) return false;
    if (!is_all_digits(folder.path().filename().native(), 4)) return false;
    for (const fs::directory_entry& file : fs::directory_iterator(folder.path())) {
      if (!file.is_regular_file() || file.is_symlink()) return false;
      if (file.path().extension() != ".jpg") return false;
      if (!is_all_digits(file.path().stem().native(), 6)) return false;
    }
  }
  return true;
}

bool exists(const std::string& path) {
  struct stat unused {};
  return ::lstat(path.c_str(), &unused) == 0;
}

}  // namespace

ThumbsFolder::ThumbsFolder(std::string path, ReadAccess readers, bool replaces_page)
    : path_(std::move(path)),
      folder_mode_(readers == ReadAccess::owner ? 0700 : 0777),
      file_mode_(readers == ReadAccess::owner ? 0600 : 0666),
      replaces_page_(replaces_page) {}

ThumbsFolder::~ThumbsFolder() {
  if (empty()) return;
  std::error_code ignored;
  fs::remove_all(fresh(), ignored);
  fs::remove(work_, ignored);  // fails if the earlier folder could not be restored: that one is kept
}

void ThumbsFolder::make_work_folder() {
  static std::atomic<unsigned> counter{0};
  std::string work;
  do {
    // The name is short whatever the page's own name is. A killed run may have left a folder of this name.
    work = fmt::format("{}/.millrace-thumbs-{}-{}", folder_of(path_), ::getpid(), counter.fetch_add(1));
  } while (exists(work));
  make_folder(work, 0700, path_);
  work_ = work;
}

void ThumbsFolder::begin() {
  refuse_foreign_folder();
  make_work_folder();
  make_folder(fresh(), folder_mode_, path_);
  write_thumb(fresh() + "/" + kMark, file_mode_, "", path_);
}

std::uint64_t ThumbsFolder::add(std::string_view jpeg) {
  if (empty()) begin();
  const std::uint64_t number = count_++;
  const std::string folder = fmt::format("{}/{:04}", fresh(), number / kThumbsPerFolder);
  if (number % kThumbsPerFolder == 0) make_folder(folder, folder_mode_, path_);
  write_thumb(fmt::format("{}/{:06}.jpg", folder, number), file_mode_, jpeg, path_);
  return number;
}

// True for a folder of this user that a page made.
bool ThumbsFolder::is_ours(const std::string& folder) const {
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != ::geteuid()) return false;
  return (replaces_page_ || exists(folder + "/" + kMark)) && has_only_thumbs(folder);
}

// Moves the earlier folder into the hidden one, which only this user can access, and checks it there, where nobody can
// replace it. If it is foreign, moves it back and returns false.
bool ThumbsFolder::move_former_away() {
  if (::rename(path_.c_str(), former().c_str()) != 0) fail("cannot be replaced", path_);
  if (is_ours(former())) return true;
  ::rename(former().c_str(), path_.c_str());
  return false;
}

void ThumbsFolder::refuse_foreign_folder() const {
  if (!exists(path_) || is_ours(path_)) return;
  throw Failure(ErrorCode::conflict, "contains other files than the thumbnails of a page", path_,
                "move it away or give the page another name");
}

void ThumbsFolder::publish() {
  if (empty()) return;
  sync_all(fresh(), path_);
  refuse_foreign_folder();
  if (exists(path_) && !move_former_away()) refuse_foreign_folder();
  published_ = true;
  if (::rename(fresh().c_str(), path_.c_str()) == 0) return;
  const int number = errno;
  roll_back();
  throw Failure(system_error("cannot be renamed", path_, number));
}

void ThumbsFolder::roll_back() {
  if (!published_) return;
  ::rename(path_.c_str(), fresh().c_str());
  ::rename(former().c_str(), path_.c_str());
  published_ = false;
}

void ThumbsFolder::drop_replaced() {
  std::error_code ignored;
  if (empty()) {
    if (!is_ours(path_)) return;
    try {
      make_work_folder();
      move_former_away();
    } catch (const Failure&) {
      // A folder that is not removed only costs disk space.
    }
  }
  // Removes the hidden folder only if its contents are this program's: a foreign folder that could not be moved back is
  // kept.
  if (!exists(former()) || is_ours(former())) fs::remove_all(work_, ignored);
  work_.clear();
}

}  // namespace millrace::dedupe
