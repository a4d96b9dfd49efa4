#include "src/io/tensor/row_cache.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "src/base/error.h"
#include "src/io/file/positional_io.h"

namespace millrace {
namespace {

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

RowFile::RowFile(std::uint64_t rows, std::size_t row_bytes)
    : rows_(rows), number_(next_number()), row_bytes_(row_bytes) {}

void PlainRowFile::read(std::uint64_t first, std::size_t count, std::byte* out) const {
  const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) throw Failure(system_error("cannot be opened", path_, errno));
  const std::size_t size = count * row_bytes();
  const std::size_t done = read_at(fd, offset_ + first * row_bytes(), {out, size});
  const int reason = errno;
  ::close(fd);
  if (reason != 0) throw Failure(system_error("cannot be read", path_, reason));
  if (done < size) {
    throw Failure(ErrorCode::conflict, "it changed while it was read: it is now shorter", path_,
                  "run the same command again");
  }
}

void RowCache::fill(Slot& slot, const RowFile& file, std::uint64_t block, std::size_t rows) {
  if (slot.file == file.number() && slot.block == block) return;
  const std::uint64_t first = block * rows;
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(rows, file.rows() - first));
  slot.file = 0;
  slot.bytes.resize(count * file.row_bytes());
  file.read(first, count, slot.bytes.data());
  slot.file = file.number();
  slot.block = block;
}

}  // namespace millrace
