// Input: messages for one running millrace-film, and the size of the memory that it shares with the program.
// Output: its messages, or the reason why there are none.
// Never: waits for a helper that is silent for ten minutes; leaves a process behind.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/mutex.h"
#include "src/base/sizes.h"
#include "src/io/process/child_process.h"
#include "src/io/video/helper/protocol.h"

namespace millrace::video_file {

class VideoHelper {
 public:
  // `subject` is the file that it works on, for messages; `memory` is the number of bytes that it may allocate, 0: no
  // limit. Throws Failure(unavailable) where it cannot be started.
  VideoHelper(std::string subject, std::size_t shared, Bytes memory, std::function<bool()> cancelled);
  ~VideoHelper();
  VideoHelper(const VideoHelper&) = delete;
  VideoHelper& operator=(const VideoHelper&) = delete;

  // Sends a message, from any thread. Waits up to ten minutes while the helper has not read earlier messages. receive()
  // reports a message that could not be sent.
  void send(Message message, std::string_view text = {}, const void* data = nullptr, std::size_t bytes = 0,
            int fd = -1);
  struct ReceivedMessage {
    Message message;
    std::string text;
    std::vector<std::uint8_t> data;
  };
  // Receives a message, on one thread at a time. Throws Failure where the helper sent `failed`, sent more data than
  // `max_data`, or has ended.
  void receive(ReceivedMessage& out, std::uint32_t max_data = 0);

  // Gives up the helper's work: receive() fails soon.
  void close() const;

  std::uint8_t* shared() const { return shared_; }
  Bytes memory() const { return memory_; }
  const std::string& subject() const { return subject_; }
  double cpu_seconds() const { return child_->cpu_seconds(); }

 private:
  [[noreturn]] void fail_as_it_ended();
  bool send(const void* data, std::size_t bytes);

  const std::string subject_;
  const Bytes memory_;
  std::uint8_t* shared_ = nullptr;
  std::size_t shared_bytes_ = 0;
  std::unique_ptr<ChildProcess> child_;
  const std::function<bool()> cancelled_;
  Mutex sending_;
};

}  // namespace millrace::video_file
