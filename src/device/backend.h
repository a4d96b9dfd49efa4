// Input: what a queue asks of a vendor's driver.
// Output: the same for every driver: memory, copies, launches, events. Implemented by cuda/ and opencl/, used by
// queue.cc
//   and accelerator.cc alone.
// Never: a vendor's type, or a decision: nothing is tried again here, nothing falls back.
//
// Everything that a queue is told happens later and in order; host memory that it was told of stays as it is, and every
// allocation stays, until finish(). OutOfMemory where an allocation does not fit, DeviceLost once the device is of no
// use to this process any more, Failure(internal) for a call that was wrong.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "src/device/kernel_source.h"
#include "src/memory/budget.h"

namespace millrace {

// The device cannot be used by this process any more, whatever is tried.
class DeviceLost : public Failure {
 public:
  using Failure::Failure;
};

// Whether it is the device that failed, and not the work: then the CPU does it.
inline bool is_of_device(const Failure& failure) {
  return failure.error().code == ErrorCode::unavailable || failure.error().code == ErrorCode::internal;
}

// Whether a driver's error is one of a kind.
inline bool is_one_of(std::span<const int> errors, int error) {
  return std::find(errors.begin(), errors.end(), error) != errors.end();
}

// What pays for an allocation: the device's budget, and the host's where that is the same memory.
using PaidMemory = std::array<Reservation, 2>;

// A moment in a queue's order.
class DeviceEvent {
 public:
  DeviceEvent() = default;
  virtual ~DeviceEvent() = default;
  DeviceEvent(const DeviceEvent&) = delete;
  DeviceEvent& operator=(const DeviceEvent&) = delete;
};

// Memory of a device, or of the host where a device can reach it. Freed by the destructor.
class DeviceAllocation {
 public:
  DeviceAllocation(Bytes size, PaidMemory paid) : size(size), paid(std::move(paid)) {}
  virtual ~DeviceAllocation() = default;
  DeviceAllocation(const DeviceAllocation&) = delete;
  DeviceAllocation& operator=(const DeviceAllocation&) = delete;

  std::uint64_t handle = 0;   // the driver's: an address, or an object's
  std::byte* host = nullptr;  // of pinned memory
  // The moment at which its owner is done with it, where that is somebody else. Null: nothing is waited for.
  std::shared_ptr<DeviceEvent> theirs;
  const Bytes size;

 private:
  PaidMemory paid;
};

struct KernelArgument {
  std::size_t bytes = 0;  // of a number
  alignas(8) std::array<std::byte, 8> value{};
  std::shared_ptr<DeviceAllocation> array;  // null: a number
};

class QueueBackend {
 public:
  QueueBackend() = default;
  virtual ~QueueBackend() = default;
  QueueBackend(const QueueBackend&) = delete;
  QueueBackend& operator=(const QueueBackend&) = delete;

  virtual void upload(const std::byte* from, DeviceAllocation& to, std::size_t offset, std::size_t bytes) = 0;
  virtual void download(const DeviceAllocation& from, std::size_t offset, std::byte* to, std::size_t bytes) = 0;
  virtual void fill(DeviceAllocation& to, std::size_t offset, std::size_t bytes, std::uint8_t value) = 0;
  // `kernel` is of DeviceBackend::kernel().
  virtual void launch(void* kernel, unsigned blocks, unsigned threads, std::span<const KernelArgument> arguments) = 0;
  virtual std::shared_ptr<DeviceEvent> record() = 0;
  // What follows here begins behind the event, which may be another queue's.
  virtual void wait(DeviceEvent& event) = 0;
  virtual void finish() = 0;
  // Between two events of this queue that have passed.
  virtual double seconds_between(DeviceEvent& from, DeviceEvent& to) = 0;
};

class DeviceBackend {
 public:
  DeviceBackend() = default;
  virtual ~DeviceBackend() = default;
  DeviceBackend(const DeviceBackend&) = delete;
  DeviceBackend& operator=(const DeviceBackend&) = delete;

  virtual std::shared_ptr<DeviceAllocation> allocate(Bytes size, PaidMemory paid) = 0;
  virtual std::shared_ptr<DeviceAllocation> allocate_pinned(Bytes size, PaidMemory paid) = 0;
  // Memory that somebody else has allocated, and frees: all of it lies in what this process has of this device. What
  // they have under way on the device's default stream, or in order with it, comes before what a queue does with it.
  // Failure(usage) where it does not, Failure(unavailable) where this driver cannot tell of it.
  virtual std::shared_ptr<DeviceAllocation> adopt(std::uint64_t address, Bytes size) = 0;
  virtual std::unique_ptr<QueueBackend> make_queue() = 0;
  // Compiled at the first call. Failure(unavailable) where this driver cannot compile it.
  virtual void* kernel(const KernelSource& source, const KernelEntry& entry) = 0;
  virtual Bytes free_memory() = 0;
};

}  // namespace millrace
