// Input: a helper program, and what it is told.
// Output: what it answers, or what became of it.
// Never: waits longer than it was told to, or leaves a process behind.
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

// The number of its socket inside a helper; what else it is given follows.
inline constexpr int kHelperSocket = 3;

// How a helper ends that cannot begin: this machine's fault, and no item's. (The dynamic linker says 127.)
inline constexpr int kCannotBegin = 71;
// And one that was built with another version than who starts it, which it is told as its only argument.
inline constexpr int kOtherVersion = 72;

class Child {
 public:
  // Nothing when it cannot be started. It gets descriptors for `given` as kHelperSocket + 1 and so on.
  static std::unique_ptr<Child> start(const std::string& program, std::span<const int> given = {});
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // False for one that died while it was idle.
  bool alive();
  int socket() const { return socket_; }

  bool send(const void* data, std::size_t size) const;
  // All `size` bytes, or false: when they have not come after `patience` seconds, when `cancelled` says so, when its
  // work takes too long, or at its death.
  bool receive(void* data, std::size_t size);
  void set_patience(int seconds) { patience_s_ = seconds; }
  // An item's work begins. All of it may take so many seconds of computing, as often as this is changed, and ten times
  // that in waiting for it: a helper that was taken over may sleep.
  void begin_work(int seconds);
  void allow(int seconds) { allowed_s_ = seconds; }
  void set_cancelled(std::function<bool()> cancelled) { cancelled_ = std::move(cancelled); }
  // Tells a helper that somebody has stopped to go on. Called while the program waits for it.
  void wake_if_stopped() const;
  // CPU time in all its life; 0 once it is gone.
  double seconds_computed() const;

  struct Words {
    const char* who;      // "its decoder"
    const char* crashed;  // "its decoder crashed"
    const char* remedy;
    const char* memory_remedy;
  };
  // Why send() or receive() gave false, about no subject.
  Error exit_reason(const Words& words);

 private:
  Child() = default;
  bool wait_readable(int& waited_ms);

  int socket_ = -1;
  pid_t pid_ = -1;
  int patience_s_ = 60;
  int allowed_s_ = 0;  // 0: as long as it takes
  double computed_before_ = 0;
  std::int64_t work_ms_ = 0;  // waited for since the work began
  std::function<bool()> cancelled_;
  bool silent_ = false, late_ = false, stopped_ = false;
};

}  // namespace millrace
