#include "src/io/image/helper_process.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>

#include "src/io/process/helper_path.h"
#include "src/io/process/socket_bytes.h"

namespace millrace {

static_assert(helper::kSocket == kHelperSocket && helper::kSharedMemory == kHelperSocket + 1);

std::string helper_program() { return find_helper("millrace-decoder"); }

std::unique_ptr<HelperProcess> HelperProcess::start() {
  const int memory = ::memfd_create("millrace-pixels", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memory < 0) return nullptr;
  auto helper = std::unique_ptr<HelperProcess>(new HelperProcess);
  if (::ftruncate(memory, helper::kSharedBytes) == 0) {
    void* shared = ::mmap(nullptr, helper::kSharedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (shared != MAP_FAILED) helper->shared_ = static_cast<std::uint8_t*>(shared);
    // Seals fix the size. If a helper shortened the memory, the program would be killed by a SIGBUS when it reads past
    // the end.
    ::fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  }
  if (helper->shared_ != nullptr) helper->child_ = ChildProcess::start(helper_program(), std::array{memory});
  ::close(memory);
  return helper->child_ ? std::move(helper) : nullptr;
}

HelperProcess::~HelperProcess() {
  if (shared_ != nullptr) ::munmap(shared_, helper::kSharedBytes);
}

bool HelperProcess::request(const helper::DecodeRequest& request, int fd) {
  return send_with_descriptor(child_->socket(), &request, sizeof(request), fd);
}

Error HelperProcess::describe_exit() {
  return child_->describe_exit({"its decoder", "its decoder crashed", "the other files are not affected",
                                "lower --memory or --threads; the other files are not affected"});
}

}  // namespace millrace
