// Input: bytes that several threads can produce.
// Output: the bytes in a device's memory: threads fill one chunk while the previous one is copied.
// Never: needs more pinned memory than two chunks.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "src/device/cpu/executor.h"
#include "src/device/queue.h"

namespace millrace {

class StagedUpload {
 public:
  // Allocates chunks of at most `bytes` each, smaller if the host has little memory. Throws OutOfMemory if it has too
  // little even for those.
  void make_room(Accelerator& accelerator, std::uint64_t bytes, const std::string& purpose);
  // Calls put(begin, end, to) for bytes [begin, end) of `all`, on any thread. Copies may be pending when it returns.
  void run(Queue& queue, const Executor& executor, std::uint64_t all, DeviceBuffer<std::uint8_t>& to,
           const std::function<void(std::uint64_t, std::uint64_t, std::uint8_t*)>& put);

 private:
  std::array<PinnedBuffer<std::uint8_t>, 2> chunks_;
};

}  // namespace millrace
