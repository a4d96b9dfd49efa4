// Input: the maximum size in bytes of a file that this process writes.
// Output: the limit in force while the object lives: a write beyond it fails as on a full disk.
// Never: needs a mount. Two objects at the same time, in two threads, would disturb each other.
#pragma once

#include <sys/resource.h>

#include <csignal>

namespace millrace {

class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &former_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit = former_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &former_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit former_{};
  void (*handler_)(int) = nullptr;
};

}  // namespace millrace
