// Input: bytes that many threads can put together.
// Output: them in a device's memory: threads fill one piece while the one before is copied.
// Never: needs more pinned memory than two pieces.
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
  // Room for pieces of so many bytes at most, smaller where the host has little; OutOfMemory where it has hardly any.
  void make_room(Accelerator& accelerator, std::uint64_t bytes, const std::string& purpose);
  // put(begin, end, to): bytes [begin, end) of all, on any thread. Some may be under way when this returns.
  void run(Queue& queue, const Executor& executor, std::uint64_t all, DeviceBuffer<std::uint8_t>& to,
           const std::function<void(std::uint64_t, std::uint64_t, std::uint8_t*)>& put);

 private:
  std::array<PinnedBuffer<std::uint8_t>, 2> pieces_;
};

}  // namespace millrace
