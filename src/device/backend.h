// Input: a queue's requests to a vendor's driver.
// Output: one interface for every driver: memory, copies, launches, events. It is implemented by cuda/ and opencl/, and
// used only by queue.cc and accelerator.cc.
// Never: exposes a vendor's type or decides anything: no call is repeated here and nothing falls back to the CPU.
//
// Requests of a queue are all executed later, in order. Until finish() the host memory in a request must not change,
// and every allocation stays alive. OutOfMemory is thrown if an allocation does not fit, DeviceLost once this process
// cannot use the device any more. A wrong call throws Failure(internal).
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

// The device cannot be used by this process any more.
class DeviceLost : public Failure {
 public:
  using Failure::Failure;
};

// True if the device failed and not the work itself; the CPU then does the work.
inline bool is_device_failure(const Failure& failure) {
  return failure.error().code == ErrorCode::unavailable || failure.error().code == ErrorCode::internal;
}

// True if the driver's error code is one of `errors`.
inline bool is_one_of(std::span<const int> errors, int error) {
  return std::find(errors.begin(), errors.end(), error) != errors.end();
}

// Reservations for an allocation: in the device's budget, and in the host's if both share the same memory.
using MemoryReservations = std::array<Reservation, 2>;

// A point in the order of a queue.
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
  DeviceAllocation(Bytes size, MemoryReservations reservations) : size(size), reservations(std::move(reservations)) {}
  virtual ~DeviceAllocation() = default;
  DeviceAllocation(const DeviceAllocation&) = delete;
  DeviceAllocation& operator=(const DeviceAllocation&) = delete;

  std::uint64_t handle = 0;   // of the driver: an address, or an object
  std::byte* host = nullptr;  // for pinned memory only
  // Point after which a foreign owner of the memory has finished with it. Null: no wait is needed.
  std::shared_ptr<DeviceEvent> owner_event;
  const Bytes size;

 private:
  MemoryReservations reservations;
};

struct KernelArgument {
  std::size_t bytes = 0;  // size of a number
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
  // `kernel` comes from DeviceBackend::kernel().
  virtual void launch(void* kernel, unsigned blocks, unsigned threads, std::span<const KernelArgument> arguments) = 0;
  virtual std::shared_ptr<DeviceEvent> record() = 0;
  // Makes all later requests wait for the event, which may belong to another queue.
  virtual void wait(DeviceEvent& event) = 0;
  virtual void finish() = 0;
  // Returns the time between two completed events of this queue.
  virtual double seconds_between(DeviceEvent& from, DeviceEvent& to) = 0;
};

class DeviceBackend {
 public:
  DeviceBackend() = default;
  virtual ~DeviceBackend() = default;
  DeviceBackend(const DeviceBackend&) = delete;
  DeviceBackend& operator=(const DeviceBackend&) = delete;

  virtual std::shared_ptr<DeviceAllocation> allocate(Bytes size, MemoryReservations reservations) = 0;
  virtual std::shared_ptr<DeviceAllocation> allocate_pinned(Bytes size, MemoryReservations reservations) = 0;
  // Adopts memory that other code has allocated and will free; all of it must lie in this process's memory on this
  // device. That code's pending work on the default stream, or ordered with it, runs before a queue uses the memory.
  // Throws Failure(usage) for other memory, Failure(unavailable) if this driver cannot tell.
  virtual std::shared_ptr<DeviceAllocation> adopt(std::uint64_t address, Bytes size) = 0;
  virtual std::unique_ptr<QueueBackend> make_queue() = 0;
  // Compiles the kernel at the first call. Throws Failure(unavailable) if this driver cannot compile it.
  virtual void* kernel(const KernelSource& source, const KernelEntry& entry) = 0;
  virtual Bytes free_memory() = 0;
};

}  // namespace millrace
