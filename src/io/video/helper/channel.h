// Input: a message of the program.
// Output: the result of FFmpeg, sent over the socket.
// Never: opens a file by its name; lives longer than the program.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/base/json.h"
#include "src/base/mutex.h"
#include "src/io/video/helper/libav.h"
#include "src/io/video/helper/protocol.h"

namespace millrace::video_file {

// An error that ends the work, in words for a person.
struct FatalError : std::runtime_error {
  FatalError(ErrorCode code_, const std::string& what) : std::runtime_error(what), code(code_) {}
  ErrorCode code;
};
// These throw the error of a call to FFmpeg: "the decoder h264 cannot be opened: Invalid data".
[[noreturn]] void fail(const std::string& what, int error);
void check(int error, const std::string& what);

// Messages between the helper and the program. The helper ends when the program is gone.
class Channel {
 public:
  Channel(std::uint8_t* slots, std::size_t bytes) : slots_(slots), bytes_(bytes) {}

  void send(Message message, std::string_view text = {}, const void* data = nullptr, std::size_t bytes = 0,
            const void* more = nullptr, std::size_t more_bytes = 0);
  // A received message, with its text and data.
  struct ReceivedMessage {
    Message message;
    std::string text;
    std::vector<std::uint8_t> data;
    int fd = -1;
  };
  // Receives the next message; false when the program has closed the socket.
  bool receive(ReceivedMessage& out);
  void receive_or_exit(ReceivedMessage& out);
  // True when a message is waiting.
  static bool has_message();

  std::uint8_t* slot(std::uint32_t k, std::size_t bytes) const;
  std::uint32_t slots(std::size_t bytes) const { return static_cast<std::uint32_t>(bytes_ / bytes); }

 private:
  std::uint8_t* slots_;
  std::size_t bytes_;
  Mutex sending_;  // encoders release frames on threads of their own
};

// Each of these runs until its work is done. The file's descriptor belongs to the caller.
void probe(Channel& channel, int fd, const Json& what);
void decode(Channel& channel, int fd, const Json& what);
// Runs from one `encode` until the last packet of it.
void encode(Channel& channel, const Json& what);
void mux(Channel& channel, int fd, const Json& what);

}  // namespace millrace::video_file
