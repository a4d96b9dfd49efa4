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
#include "src/io/process/child_process.h"

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
  bool is_alive() { return child_->is_alive(); }
  // Sends the request with the open file. False when the helper did not get it.
  bool request(const helper::DecodeRequest& request, int fd);
  bool answer(helper::ProgramReply answer) { return child_->send(&answer, sizeof(answer)); }

  // The following functions are those of ChildProcess.
  bool receive(void* data, std::size_t size) { return child_->receive(data, size); }
  void set_timeout(int seconds) { child_->set_timeout(seconds); }
  void begin_work(int seconds) { child_->begin_work(seconds); }
  void set_work_seconds(int seconds) { child_->set_work_seconds(seconds); }
  double cpu_seconds() const { return child_->cpu_seconds(); }
  void set_cancelled(std::function<bool()> cancelled) { child_->set_cancelled(std::move(cancelled)); }

  // Returns the reason why receive() or answer() returned false.
  Error describe_exit();

  const std::uint8_t* shared() const { return shared_; }

 private:
  HelperProcess() = default;

  std::unique_ptr<ChildProcess> child_;
  std::uint8_t* shared_ = nullptr;
};

}  // namespace millrace
