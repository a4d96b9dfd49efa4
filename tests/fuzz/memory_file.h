// Input: the bytes of one fuzz input.
// Output: a path that FileReader opens like any file's.
// Never: touches a disk.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace millrace::fuzz {

// Path of the process's memory file, which is refilled for every input.
inline std::string path_of_bytes(const std::uint8_t* data, std::size_t size) {
  static const int fd = ::memfd_create("fuzz-input", MFD_CLOEXEC);
  if (fd < 0 || ::ftruncate(fd, 0) != 0 || ::pwrite(fd, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  return "/proc/self/fd/" + std::to_string(fd);
}

}  // namespace millrace::fuzz
