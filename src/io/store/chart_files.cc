#include "src/io/store/chart_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <utility>

#include "src/base/text.h"
#include "src/io/file/at_offset.h"
#include "src/io/file/reader.h"

namespace millrace {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const char* what, const std::string& path) {
  throw Failure(system_error(what, printable(path), errno));
}

}  // namespace

ChartFolder::ChartFolder(std::string folder, std::uint64_t first, std::string extension)
    : folder_(std::move(folder)), part_(folder_ + ".part"), extension_(std::move(extension)), at_(first) {
  std::error_code error;
  fs::remove_all(part_, error);
  fs::create_directory(part_, error);
  if (error) throw Failure(system_error("it cannot be created", part_, error.value()));
}

void ChartFolder::append(const ChartBlock& block) {
  const std::uint8_t* image = block.images.data();
  for (const std::uint32_t bytes : block.image_bytes) {
    const std::string path = fmt::format("{}/{:08}.{}", part_, at_++, extension_);
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0) fail("it cannot be created", path);
    const bool written = write_at(fd, 0, std::as_bytes(std::span(image, bytes)));
    const int number = errno;
    if (::close(fd) != 0 || !written) {
      errno = written ? errno : number;
      fail("it cannot be written", path);
    }
    image += bytes;
  }
}

void ChartFolder::commit() {
  // Thousands of files: one sync of the file system instead of one of each.
  const int fd = ::open(part_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = fd >= 0 && ::syncfs(fd) == 0;
  const int number = errno;
  if (fd >= 0) ::close(fd);
  errno = number;
  if (!synced) fail("it cannot be written to the disk", part_);
  rename_file(part_, folder_);
  sync_folder(folder_of(folder_));
}

void ChartArchive::append(const ChartBlock& block) { file_.write(std::as_bytes(std::span(block.images))); }

ChartRows::ChartRows(std::string path, std::string_view header, std::uint64_t first, std::uint64_t image_bytes)
    : path_(std::move(path)), offset_(header.size() + first * image_bytes), charts_(first) {
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
  // What lies behind was not finished.
  if (fd_ < 0 || ::ftruncate(fd_, static_cast<off_t>(offset_)) != 0 ||
      !write_at(fd_, 0, std::as_bytes(std::span(header)))) {
    const int number = errno;
    if (fd_ >= 0) ::close(fd_);
    errno = number;
    fail("it cannot be written", path_);
  }
}

ChartRows::~ChartRows() { ::close(fd_); }

std::uint64_t ChartRows::done(const std::string& path) {
  auto reader = FileReader::open(path + ".done", FileReader::Hashing::off);
  if (!reader) return 0;
  const auto front = (*reader)->peek();
  std::uint64_t count = 0;
  const char* begin = reinterpret_cast<const char*>(front.data());
  std::from_chars(begin, begin + front.size(), count);
  return count;
}

void ChartRows::append(const ChartBlock& block) {
  if (!write_at(fd_, offset_, std::as_bytes(std::span(block.images)))) fail("it cannot be written", path_);
  offset_ += block.images.size();
  charts_ += block.count();
}

void ChartRows::commit() {
  if (::fdatasync(fd_) != 0) fail("it cannot be written to the disk", path_);
  AtomicFile done(path_ + ".done", AtomicFile::Temporary::part);
  done.write(fmt::format("{}\n", charts_));
  done.commit();
}

}  // namespace millrace
