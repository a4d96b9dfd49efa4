// Input: a socket between a program and its helper.
// Output: all of a message sent or received, with a descriptor where one is attached.
// Never: raises SIGPIPE. The death of the other side is an ordinary result.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

namespace millrace {

inline bool send_bytes(int socket, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = ::send(socket, at, size, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

// Waits without a timeout.
inline bool receive_bytes(int socket, void* data, std::size_t size) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t n = ::recv(socket, at, size, MSG_WAITALL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

// Sends at least one byte, together with the descriptor `fd`; without one where `fd` is -1.
inline bool send_with_descriptor(int socket, const void* data, std::size_t size, int fd) {
  if (fd < 0) return send_bytes(socket, data, size);
  iovec part{const_cast<void*>(data), size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  ssize_t n = 0;
  do {
    n = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (n < 0 && errno == EINTR);
  const auto sent = static_cast<std::size_t>(n);
  return n > 0 && send_bytes(socket, static_cast<const char*>(data) + sent, size - sent);
}

// Receives bytes. `fd` becomes the descriptor that came with them, or -1 where none did.
inline bool receive_with_descriptor(int socket, void* data, std::size_t size, int& fd) {
  fd = -1;
  iovec part{data, size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t n = 0;
  do {
    n = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
  } while (n < 0 && errno == EINTR);
  if (n <= 0) return false;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
  }
  const auto got = static_cast<std::size_t>(n);
  if (receive_bytes(socket, static_cast<char*>(data) + got, size - got)) return true;
  if (fd >= 0) ::close(std::exchange(fd, -1));
  return false;
}

}  // namespace millrace
