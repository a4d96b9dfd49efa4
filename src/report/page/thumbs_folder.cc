#include "src/report/page/thumbs_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>

#include "src/base/error.h"
#include "src/io/file/atomic_file.h"

namespace millrace {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kThumbsPerFolder = 1000;

[[noreturn]] void fail(const char* what, const std::string& subject) {
  throw Failure(system_error(what, subject, errno));
}

void make_folder(const std::string& path, const std::string& subject) {
  if (::mkdir(path.c_str(), 0777) != 0) fail("cannot create the folder", subject);
}

void write_file(const std::string& path, std::string_view bytes, const std::string& subject) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
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

// All that its file system holds back: one call for many thousand files.
void sync_all(const std::string& path, const std::string& subject) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) fail("cannot open the folder", subject);
  const int result = ::syncfs(descriptor);
  const int number = errno;
  ::close(descriptor);
  // Some network file systems cannot; the rename itself is still whole or not at all.
  if (result != 0 && number != EINVAL && number != ENOTSUP) {
    throw Failure(system_error("cannot write the folder to the disk", subject, number));
  }
}

bool all_digits(std::string_view text, std::size_t at_least) {
  return text.size() >= at_least && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Whether a folder holds nothing but what an earlier page put there, so that it may be replaced.
bool only_thumbs(const std::string& path) {
  for (const fs::directory_entry& folder : fs::directory_iterator(path)) {
    if (!folder.is_directory() || folder.is_symlink()) return false;
    if (!all_digits(folder.path().filename().native(), 4)) return false;
    for (const fs::directory_entry& file : fs::directory_iterator(folder.path())) {
      if (!file.is_regular_file() || file.is_symlink()) return false;
      if (file.path().extension() != ".jpg") return false;
      if (!all_digits(file.path().stem().native(), 6)) return false;
    }
  }
  return true;
}

bool exists(const std::string& path) {
  struct stat unused {};
  return ::lstat(path.c_str(), &unused) == 0;
}

bool is_folder(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

ThumbsFolder::ThumbsFolder(std::string path) : path_(std::move(path)) {}

ThumbsFolder::~ThumbsFolder() {
  if (empty()) return;
  std::error_code ignored;
  fs::remove_all(fresh(), ignored);
  fs::remove(work_, ignored);  // not when what stood there before could not be brought back: that stays
}

void ThumbsFolder::begin() {
  static std::atomic<unsigned> counter{0};
  refuse_foreign_folder();
  std::string work;
  do {
    // Short whatever the page's own name is. A run that was killed may have left this one.
    work = fmt::format("{}/.millrace-thumbs-{}-{}", folder_of(path_), ::getpid(), counter.fetch_add(1));
  } while (exists(work));
  make_folder(work, path_);
  work_ = work;
  make_folder(fresh(), path_);
}

std::uint64_t ThumbsFolder::add(std::string_view jpeg) {
  if (empty()) begin();
  const std::uint64_t number = count_++;
  const std::string folder = fmt::format("{}/{:04}", fresh(), number / kThumbsPerFolder);
  if (number % kThumbsPerFolder == 0) make_folder(folder, path_);
  write_file(fmt::format("{}/{:06}.jpg", folder, number), jpeg, path_);
  return number;
}

void ThumbsFolder::refuse_foreign_folder() const {
  if (!exists(path_) || (is_folder(path_) && only_thumbs(path_))) return;
  throw Failure(ErrorCode::conflict, "holds something else than the thumbnails of a page", path_,
                "move it away or give the page another name");
}

void ThumbsFolder::publish() {
  if (empty()) return;
  sync_all(fresh(), path_);
  refuse_foreign_folder();
  if (exists(path_) && ::rename(path_.c_str(), former().c_str()) != 0) fail("cannot be replaced", path_);
  published_ = true;
  if (::rename(fresh().c_str(), path_.c_str()) == 0) return;
  const int number = errno;
  take_back();
  throw Failure(system_error("cannot be put in place", path_, number));
}

void ThumbsFolder::take_back() {
  if (!published_) return;
  ::rename(path_.c_str(), fresh().c_str());
  ::rename(former().c_str(), path_.c_str());
  published_ = false;
}

void ThumbsFolder::settle() {
  std::error_code ignored;
  if (empty()) {
    if (is_folder(path_) && only_thumbs(path_)) fs::remove_all(path_, ignored);
  } else {
    fs::remove_all(work_, ignored);
    work_.clear();
  }
}

}  // namespace millrace
