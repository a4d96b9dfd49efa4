#include "src/io/image/helper_process.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace millrace {

static_assert(helper::kSocket == kHelperSocket && helper::kSharedMemory == kHelperSocket + 1);

std::string helper_program() { return beside_program("millrace-decoder"); }

std::unique_ptr<HelperProcess> HelperProcess::start() {
  const int memory = ::memfd_create("millrace-pixels", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memory < 0) return nullptr;
  auto helper = std::unique_ptr<HelperProcess>(new HelperProcess);
  if (::ftruncate(memory, helper::kSharedBytes) == 0) {
    void* shared = ::mmap(nullptr, helper::kSharedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (shared != MAP_FAILED) helper->shared_ = static_cast<std::uint8_t*>(shared);
    // A helper that shortened it would have the program die of reading what is not there.
    ::fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  }
  if (helper->shared_ != nullptr) helper->child_ = Child::start(helper_program(), std::array{memory});
  ::close(memory);
  return helper->child_ ? std::move(helper) : nullptr;
}

HelperProcess::~HelperProcess() {
  if (shared_ != nullptr) ::munmap(shared_, helper::kSharedBytes);
}

bool HelperProcess::request(const helper::Request& request, int fd) {
  iovec part{const_cast<helper::Request*>(&request), sizeof(request)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &fd, sizeof(fd));
  return ::sendmsg(child_->socket(), &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof(request));
}

Error HelperProcess::obituary() {
  return child_->obituary({"its decoder", "its decoder crashed", "the other files are not affected",
                           "allow less with --memory, or use fewer --threads; the other files are not affected"});
}

}  // namespace millrace
