#include "src/io/file/scratch_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/io/file/positional_io.h"

namespace millrace {

ScratchFile::ScratchFile(const std::string& folder)
    : folder_(folder), file_(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)) {
  if (file_) return;
  // Some file systems have no files without a name (O_TMPFILE).
  std::string name = join_path(folder, std::string(AtomicFile::kTemporaryPrefix) + "XXXXXX");
  file_ = Descriptor(::mkostemp(name.data(), O_CLOEXEC));
  if (!file_)
    throw Failure(system_error("a temporary file cannot be created in this folder", escape_unprintable(folder), errno));
  ::unlink(name.c_str());
}

void ScratchFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (!millrace::write_at(file_.get(), offset, bytes))
    throw Failure(
        system_error("the temporary file in this folder cannot be written", escape_unprintable(folder_), errno));
}

void ScratchFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  errno = 0;
  const std::size_t got = millrace::read_at(file_.get(), offset, out);
  if (errno != 0)
    throw Failure(system_error("the temporary file in this folder cannot be read", escape_unprintable(folder_), errno));
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(got), out.end(), std::byte{0});
}

}  // namespace millrace
