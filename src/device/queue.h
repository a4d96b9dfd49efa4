// Input: copies, launches and waits, in the order in which a device must execute them.
// Output: these operations executed, counted, and timed by the device's own events.
// Never: releases memory that the device may still read or write: a queue holds the memory of its requests until it has
// finished.
//
// The classes are not thread-safe, but two threads may use two queues of one accelerator. They throw OutOfMemory,
// DeviceLost and Failure(internal) as src/device/backend.h describes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "src/device/accelerator.h"
#include "src/device/backend.h"

namespace millrace {

// An array of `size` uninitialised values in a device's memory. Movable; freed when neither this object nor a queue
// holds it.
template <typename T>
class DeviceBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  static constexpr std::size_t kElement = sizeof(T);

  DeviceBuffer() = default;
  // Throws OutOfMemory if the device's budget or the device itself has too little.
  DeviceBuffer(Accelerator& accelerator, std::size_t size, const std::string& purpose)
      : size_(size), memory_(accelerator.allocate({size * sizeof(T)}, purpose)) {}

  // Wraps `size` values that other code has allocated there, and frees after all queues have released them
  // (Accelerator::adopt()).
  static DeviceBuffer adopt(Accelerator& accelerator, const void* data, std::size_t size, const std::string& name) {
    DeviceBuffer out;
    out.size_ = size;
    out.memory_ = accelerator.adopt(data, {size * sizeof(T)}, name);
    return out;
  }
  // Returns the same memory as an array of another type, with as many elements as fit.
  template <typename Other>
  DeviceBuffer<Other> as() const {
    DeviceBuffer<Other> out;
    out.size_ = size_ * sizeof(T) / sizeof(Other);
    out.memory_ = memory_;
    return out;
  }

  std::size_t size() const { return size_; }
  const std::shared_ptr<DeviceAllocation>& memory() const { return memory_; }
  // Drops this object's reference; a queue may still hold the memory.
  void release() { *this = DeviceBuffer(); }

 private:
  template <typename Other>
  friend class DeviceBuffer;
  std::size_t size_ = 0;
  std::shared_ptr<DeviceAllocation> memory_;
};

// A buffer that is allocated anew if it is too small; its contents are then lost.
template <typename T>
struct GrowingBuffer {
  DeviceBuffer<T> buffer;
  void ensure_size(Accelerator& accelerator, std::uint64_t size, const std::string& purpose) {
    if (buffer.size() >= size) return;
    buffer.release();
    buffer = DeviceBuffer<T>(accelerator, size, purpose);
  }
};

// Page-locked host memory, from and to which a device copies without staging. It counts as pinned and as host memory.
template <typename T>
class PinnedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  PinnedBuffer() = default;
  PinnedBuffer(Accelerator& accelerator, std::size_t size, const std::string& purpose)
      : size_(size), memory_(accelerator.allocate_pinned({size * sizeof(T)}, purpose)) {}

  std::size_t size() const { return size_; }
  std::span<T> span() { return {reinterpret_cast<T*>(memory_ ? memory_->host : nullptr), size_}; }
  const std::shared_ptr<DeviceAllocation>& memory() const { return memory_; }

 private:
  std::size_t size_ = 0;
  std::shared_ptr<DeviceAllocation> memory_;
};

class QueueEvent {
 public:
  QueueEvent() = default;

 private:
  friend class Queue;
  explicit QueueEvent(std::shared_ptr<DeviceEvent> event) : event_(std::move(event)) {}
  std::shared_ptr<DeviceEvent> event_;
};

class Queue {
 public:
  // The accelerator must outlive the queue.
  explicit Queue(Accelerator& accelerator);
  // Waits for pending operations.
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // Copies all of `from` to the elements from `at` on. When it returns, the copy is done.
  template <typename T>
  void upload(std::span<const T> from, DeviceBuffer<T>& to, std::size_t at = 0) {
    check_range(at, from.size(), to.size());
    upload_now(std::as_bytes(from), to.memory(), at * sizeof(T));
  }
  // Starts a copy of the first `count` elements; `from` must not change until the queue has finished.
  template <typename T>
  void upload(PinnedBuffer<T>& from, std::size_t count, DeviceBuffer<T>& to, std::size_t at = 0) {
    check_range(0, count, from.size());
    check_range(at, count, to.size());
    hold(from.memory());
    enqueue_upload(from.memory()->host, to.memory(), at * sizeof(T), count * sizeof(T));
  }
  // Copies `to.size()` elements from `at` on. When it returns, the copy is done.
  template <typename T>
  void download(const DeviceBuffer<T>& from, std::span<T> to, std::size_t at = 0) {
    check_range(at, to.size(), from.size());
    download_now(from.memory(), at * sizeof(T), std::as_writable_bytes(to));
  }
  template <typename T>
  void download(const DeviceBuffer<T>& from, std::size_t count, PinnedBuffer<T>& to, std::size_t at = 0) {
    check_range(at, count, from.size());
    check_range(0, count, to.size());
    hold(to.memory());
    enqueue_download(from.memory(), at * sizeof(T), to.memory()->host, count * sizeof(T));
  }
  // Fills all bytes of the buffer, or of its first `count` elements.
  template <typename T>
  void fill(DeviceBuffer<T>& to, std::uint8_t value, std::size_t count = SIZE_MAX) {
    enqueue_fill(to.memory(), std::min(count, to.size()) * sizeof(T), value);
  }

  // Launches a kernel; the arguments are device buffers and numbers in the order of the entry's parameters.
  template <typename... Arguments>
  void launch(const KernelSource& source, const KernelEntry& entry, std::uint64_t blocks,
              const Arguments&... arguments) {
    std::vector<KernelArgument> list;
    list.reserve(sizeof...(arguments));
    (list.push_back(argument(arguments)), ...);
    enqueue_launch(source, entry, blocks, list);
  }

  QueueEvent record();
  void wait(const QueueEvent& event);
  void finish();

 private:
  template <typename T>
  static KernelArgument argument(const DeviceBuffer<T>& buffer) {
    return {0, {}, buffer.memory()};
  }
  template <typename T>
  requires std::is_arithmetic_v<T>
  static KernelArgument argument(T number) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    KernelArgument out;
    out.bytes = sizeof(T);
    std::memcpy(out.value.data(), &number, sizeof(T));
    return out;
  }

  enum class What : std::uint8_t { upload, launch, fill, download };
  struct TimedOperation {
    What what;
    std::uint64_t bytes;
    std::shared_ptr<DeviceEvent> begin, end;
  };

  // Copies through the queue's own pinned memory, so that after an error no pending copy uses the caller's memory.
  void upload_now(std::span<const std::byte> from, const std::shared_ptr<DeviceAllocation>& to, std::size_t offset);
  void download_now(const std::shared_ptr<DeviceAllocation>& from, std::size_t offset, std::span<std::byte> to);
  // Calls copy(memory, at, bytes) for each chunk; after an error no copy is pending.
  template <typename Copy>
  void copy_in_chunks(std::size_t bytes, const Copy& copy);
  void drain();

  static void check_range(std::size_t at, std::size_t count, std::size_t size);
  void hold(const std::shared_ptr<DeviceAllocation>& memory);
  void enqueue_upload(const std::byte* from, const std::shared_ptr<DeviceAllocation>& to, std::size_t offset,
                      std::size_t bytes);
  void enqueue_download(const std::shared_ptr<DeviceAllocation>& from, std::size_t offset, std::byte* to,
                        std::size_t bytes);
  void enqueue_fill(const std::shared_ptr<DeviceAllocation>& to, std::size_t bytes, std::uint8_t value);
  void enqueue_launch(const KernelSource& source, const KernelEntry& entry, std::uint64_t blocks,
                      const std::vector<KernelArgument>& arguments);
  template <typename Enqueue>
  void enqueue_timed(What what, std::uint64_t bytes, const Enqueue& enqueue);
  void collect_timings();

  Accelerator& accelerator_;
  std::unique_ptr<QueueBackend> backend_;
  std::vector<std::shared_ptr<DeviceAllocation>> held_;
  std::shared_ptr<DeviceAllocation> staging_;
  std::vector<TimedOperation> timed_;
  std::shared_ptr<DeviceEvent> first_;  // first event, whose time of day is `first_s_`
  double first_s_ = 0;
};

}  // namespace millrace
