// Input: messages for one running millrace-film, and how much memory it shares with the program.
// Output: what it says, or why it says nothing any more.
// Never: waits for one that is silent for ten minutes, or leaves a process behind.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/sizes.h"
#include "src/io/process/child.h"
#include "src/io/video/helper/protocol.h"

namespace millrace::film {

class FilmProcess {
 public:
  // `subject` is what it works at, for messages; `memory` what it may allocate, 0: no limit. Failure(unavailable) where
  // it cannot be started.
  FilmProcess(std::string subject, std::size_t shared, Bytes memory, std::function<bool()> cancelled);
  ~FilmProcess();
  FilmProcess(const FilmProcess&) = delete;
  FilmProcess& operator=(const FilmProcess&) = delete;

  // Any thread. Waits while the helper has not heard what was said before, up to ten minutes. What cannot be said is
  // found out by hear().
  void say(Message message, std::string_view text = {}, const void* data = nullptr, std::size_t bytes = 0, int fd = -1);
  struct Heard {
    Message message;
    std::string text;
    std::vector<std::uint8_t> data;
  };
  // One thread at a time. Failure where it said `failed`, more data than `most_data`, or nothing any more.
  void hear(Heard& out, std::uint32_t most_data = 0);

  // Whatever it is at is of no use any more: hear() fails soon.
  void hang_up() const;

  std::uint8_t* shared() const { return shared_; }
  Bytes memory() const { return memory_; }
  const std::string& subject() const { return subject_; }
  double seconds_computed() const { return child_->seconds_computed(); }

 private:
  [[noreturn]] void fail_as_it_ended();
  bool send(const void* data, std::size_t bytes);

  const std::string subject_;
  const Bytes memory_;
  std::uint8_t* shared_ = nullptr;
  std::size_t shared_bytes_ = 0;
  std::unique_ptr<Child> child_;
  const std::function<bool()> cancelled_;
  std::mutex saying_;
};

}  // namespace millrace::film
