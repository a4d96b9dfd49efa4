#include <poll.h>

#include <algorithm>
#include <cstdlib>

#include "src/io/process/socket_bytes.h"
#include "src/io/video/helper/channel.h"

namespace millrace::video_file {

void Channel::send(Message message, std::string_view text, const void* data, std::size_t bytes, const void* more,
                   std::size_t more_bytes) {
  message.text_bytes = static_cast<std::uint32_t>(std::min<std::size_t>(text.size(), kMaxText));
  if (bytes + more_bytes > kMaxData)
    throw FatalError(ErrorCode::too_large, "a packet is too large (the limit is 1 GiB)");
  message.data_bytes = static_cast<std::uint32_t>(bytes + more_bytes);
  const MutexLock one_at_a_time(sending_);
  const bool sent = send_bytes(kSocket, &message, sizeof message) &&
                    send_bytes(kSocket, text.data(), message.text_bytes) && send_bytes(kSocket, data, bytes) &&
                    send_bytes(kSocket, more, more_bytes);
  if (!sent) std::_Exit(0);
}

bool Channel::receive(ReceivedMessage& out) {
  if (!receive_with_descriptor(kSocket, &out.message, sizeof out.message, out.fd)) return false;
  out.text.resize(out.message.text_bytes);
  out.data.resize(out.message.data_bytes);
  return receive_bytes(kSocket, out.text.data(), out.text.size()) &&
         receive_bytes(kSocket, out.data.data(), out.data.size());
}

void Channel::receive_or_exit(ReceivedMessage& out) {
  if (!receive(out)) std::_Exit(0);
}

bool Channel::has_message() {
  pollfd waiting{kSocket, POLLIN, 0};
  return ::poll(&waiting, 1, 0) > 0;
}

std::uint8_t* Channel::slot(std::uint32_t k, std::size_t bytes) const {
  if (bytes == 0 || k >= slots(bytes)) throw FatalError(ErrorCode::internal, "there is no such slot");
  return slots_ + static_cast<std::size_t>(k) * bytes;
}

}  // namespace millrace::video_file
