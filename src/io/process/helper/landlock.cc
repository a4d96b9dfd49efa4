#include "src/io/process/helper/landlock.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

namespace millrace {
namespace {

// Constants of the kernel's interface: installed headers may be older than the kernel. The system call numbers are the
// same on every architecture.
constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;
struct Ruleset {
  std::uint64_t files, network, scopes;
};
struct [[gnu::packed]] BelowPath {
  std::uint64_t rights;
  int folder;
};
enum Right : std::uint8_t {
  kExecute,
  kWriteFile,
  kReadFile,
  kReadFolder,
  kRemoveFolder,
  kRemoveFile,
  kMakeCharacterDevice,
  kMakeFolder,
  kMakeFile,
  kMakeSocket,
  kMakePipe,
  kMakeBlockDevice,
  kMakeLink,
  kMoveBetweenFolders,
  kTruncate,
  kControlDevice,
  kRights
};
constexpr std::uint64_t bit(Right right) { return std::uint64_t{1} << right; }
constexpr std::uint64_t kRead = bit(kReadFile) | bit(kReadFolder);
constexpr std::uint64_t kOfFiles =
    bit(kExecute) | bit(kWriteFile) | bit(kReadFile) | bit(kTruncate) | bit(kControlDevice);

constexpr std::uint64_t rights_of(Landlock::Use use) {
  switch (use) {
    case Landlock::Use::run:
      return kRead | bit(kExecute);
    case Landlock::Use::write:
      return kRead | bit(kWriteFile) | bit(kTruncate) | bit(kRemoveFile) | bit(kRemoveFolder) | bit(kMakeFile) |
             bit(kMakeFolder) | bit(kMoveBetweenFolders);
    case Landlock::Use::devices:
      return kRead | bit(kWriteFile) | bit(kTruncate) | bit(kControlDevice);
    default:
      return kRead;
  }
}

std::uint64_t rights_of_version(int version) {
  const int rights = version >= 5   ? kRights
                     : version >= 3 ? kControlDevice
                     : version >= 2 ? kTruncate
                                    : kMoveBetweenFolders;
  return (std::uint64_t{1} << rights) - 1;
}

}  // namespace

int Landlock::version() {
  const long version = ::syscall(kCreateRuleset, nullptr, 0, 1);
  return version < 1 ? 0 : static_cast<int>(version);
}

Landlock::Landlock() : version_(version()) {
  if (version_ == 0) {
    problem_ = std::string("this kernel has no Landlock: ") + std::strerror(errno);
    return;
  }
  // Network rights: bind and connect of TCP. Scopes: abstract sockets of processes outside, and signals to them.
  const Ruleset all{rights_of_version(version_), version_ >= 4 ? 3U : 0U, version_ >= 6 ? 3U : 0U};
  const std::size_t size = version_ >= 6 ? 24 : version_ >= 4 ? 16 : 8;
  fd_ = static_cast<int>(::syscall(kCreateRuleset, &all, size, 0));
  if (fd_ < 0) problem_ = std::strerror(errno);
}

Landlock::~Landlock() {
  if (fd_ >= 0) ::close(fd_);
}

bool Landlock::allow(const std::string& path, Use use) {
  if (fd_ < 0) return false;
  const int at = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (at < 0) return false;
  struct stat info {};
  const bool folder = ::fstat(at, &info) == 0 && S_ISDIR(info.st_mode);
  const BelowPath rule{rights_of(use) & rights_of_version(version_) & (folder ? ~std::uint64_t{0} : kOfFiles), at};
  const bool added = ::syscall(kAddRule, fd_, 1, &rule, 0) == 0;
  ::close(at);
  return added;
}

std::string Landlock::enforce() {
  if (fd_ < 0) return problem_;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::syscall(kRestrictSelf, fd_, 0) != 0)
    return std::strerror(errno);
  return "";
}

}  // namespace millrace
