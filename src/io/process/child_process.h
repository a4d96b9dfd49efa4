// Input: a helper program, and the messages to it.
// Output: its answers, or the reason why there are none.
// Never: waits longer than its timeout; leaves a process behind.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "src/base/error.h"

namespace millrace {

// Descriptor number of the socket inside a helper. Other descriptors that it is given have the following numbers.
inline constexpr int kHelperSocket = 3;

// Exit code of a helper that cannot begin: the cause is this machine, and no item. (The dynamic linker's code is 127.)
inline constexpr int kExitCannotStart = 71;
// Exit code of a helper that was built for another version than the program's, which is its only argument.
inline constexpr int kExitWrongVersion = 72;

class ChildProcess {
 public:
  // Returns null when the helper cannot be started. It gets descriptors for `given` as kHelperSocket + 1 and so on.
  static std::unique_ptr<ChildProcess> start(const std::string& program, std::span<const int> given = {});
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // False for a helper that died while it was idle.
  bool is_alive();
  int socket() const { return socket_; }

  bool send(const void* data, std::size_t size) const;
  // Receives all `size` bytes. False when they have not come within the timeout, when `cancelled` returns true, when
  // the work takes too long, or when the helper dies.
  bool receive(void* data, std::size_t size);
  void set_timeout(int seconds) { timeout_s_ = seconds; }
  // begin_work() starts the work on an item. All of it may use this many seconds of CPU time, and ten times as many of
  // waiting, because a compromised helper may sleep. allow() changes the number during the work.
  void begin_work(int seconds);
  void set_work_seconds(int seconds) { work_limit_s_ = seconds; }
  void set_cancelled(std::function<bool()> cancelled) { cancelled_ = std::move(cancelled); }
  // Continues a helper that somebody has stopped (SIGSTOP). Called while the program waits for it.
  void wake_if_stopped() const;
  // Returns the CPU time of the helper's whole life; 0 once it is gone.
  double cpu_seconds() const;

  struct ErrorWords {
    const char* who;      // "its decoder"
    const char* crashed;  // "its decoder crashed"
    const char* remedy;
    const char* memory_remedy;
  };
  // Returns the reason why send() or receive() returned false, without a subject.
  Error describe_exit(const ErrorWords& words);

 private:
  ChildProcess() = default;
  bool wait_readable(int& waited_ms);

  int socket_ = -1;
  pid_t pid_ = -1;
  int timeout_s_ = 60;
  int work_limit_s_ = 0;  // CPU seconds for the item's work; 0: no limit
  double computed_before_ = 0;
  std::int64_t work_ms_ = 0;  // time waited since the work began
  std::function<bool()> cancelled_;
  bool silent_ = false, late_ = false, stopped_ = false;
};

}  // namespace millrace
