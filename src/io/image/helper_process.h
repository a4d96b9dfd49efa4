// Enters: requests for one running millrace-decoder.
// Leaves: its messages, and what became of it when there are none.
// Never: waits longer than it was told to, or leaves a process behind.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "src/base/error.h"
#include "src/io/image/helper/protocol.h"

namespace millrace {

// The helper's path: beside the program, where the build and a package put it. Tests may run another program of the
// same build.
std::string helper_program();

class HelperProcess {
 public:
  // Nothing when it cannot be started.
  static std::unique_ptr<HelperProcess> start();
  ~HelperProcess();
  HelperProcess(const HelperProcess&) = delete;
  HelperProcess& operator=(const HelperProcess&) = delete;

  // False for one that died while it was idle.
  bool alive();
  // Sends the request with the open file. False when the helper did not get it.
  bool request(const helper::Request& request, int fd);
  bool answer(helper::Answer answer);

  // All `size` bytes, or false: after `patience` seconds of silence, when `cancelled` says so, or at its death.
  bool receive(void* data, std::size_t size);
  void set_patience(int seconds) { patience_s_ = seconds; }
  void set_cancelled(std::function<bool()> cancelled) { cancelled_ = std::move(cancelled); }

  // Why receive() or answer() gave false.
  Error obituary();

  const std::uint8_t* shared() const { return shared_; }

 private:
  HelperProcess() = default;
  bool wait_readable();

  int socket_ = -1;
  pid_t pid_ = -1;
  std::uint8_t* shared_ = nullptr;
  int patience_s_ = 60;
  std::function<bool()> cancelled_;
  bool silent_ = false, stopped_ = false;
};

}  // namespace millrace
