// Input: how many bytes a file of this process may have.
// Output: the limit in force while the object lives: what goes past it fails as a write to a full disk does.
// Never: needs a mount. Two at once, in two threads, would mix.
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
