// Input: requests for one running millrace-decoder.
// Output: its messages, or the reason why there are none.
// Never: waits longer than its timeout; leaves a process behind.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "src/base/error.h"
#include "src/io/image/helper/protocol.h"
#include "src/io/process/child.h"

namespace millrace {

// Path of the helper: beside the program, where the build and a package put it. Tests may run another program of the
// same build.
std::string helper_program();

class HelperProcess {
 public:
  // Returns null when the helper cannot be started.
  static std::unique_ptr<HelperProcess> start();
  ~HelperProcess();
  HelperProcess(const HelperProcess&) = delete;
  HelperProcess& operator=(const HelperProcess&) = delete;

  // False for a helper that died while it was idle.
  bool alive() { return child_->alive(); }
  // Sends the request with the open file. False when the helper did not get it.
  bool request(const helper::Request& request, int fd);
  bool answer(helper::Answer answer) { return child_->send(&answer, sizeof(answer)); }

  // The following functions are those of Child.
  bool receive(void* data, std::size_t size) { return child_->receive(data, size); }
  void set_patience(int seconds) { child_->set_patience(seconds); }
  void begin_work(int seconds) { child_->begin_work(seconds); }
  void allow(int seconds) { child_->allow(seconds); }
  double seconds_computed() const { return child_->seconds_computed(); }
  void set_cancelled(std::function<bool()> cancelled) { child_->set_cancelled(std::move(cancelled)); }

  // Returns the reason why receive() or answer() returned false.
  Error exit_reason();

  const std::uint8_t* shared() const { return shared_; }

 private:
  HelperProcess() = default;

  std::unique_ptr<Child> child_;
  std::uint8_t* shared_ = nullptr;
};

}  // namespace millrace
