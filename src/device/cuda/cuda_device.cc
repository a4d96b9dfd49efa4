// Implements src/device/backend.h with the CUDA driver API. It uses the primary context, which all CUDA libraries of a
// process share, and restores the calling thread's context after each call.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "src/base/mutex.h"
#include "src/device/cuda/api.h"
#include "src/device/cuda/driver.h"
#include "src/device/open_device.h"

namespace millrace {
namespace cuda {
namespace {

constexpr Result kOutOfMemory = 2;
// Result codes for an address at which the driver knows no memory.
constexpr std::array<Result, 2> kUnknown = {1, 500};
// Result codes after which the context cannot be used by this process. Causes are ECC errors, a device that is gone, a
// kernel that faulted, timed out or trapped, and errors unknown to the driver.
constexpr std::array<Result, 16> kLost = {4, 46, 100, 101, 214, 226, 700, 702, 709, 714, 715, 716, 717, 718, 719, 999};
// Result codes of a failed compilation: no image for this device, invalid or too new PTX, no compiler.
constexpr std::array<Result, 5> kNotCompiled = {209, 218, 221, 222, 223};

constexpr unsigned kPortable = 1;                 // CU_MEMHOSTALLOC_PORTABLE
constexpr unsigned kNonBlocking = 1;              // CU_STREAM_NON_BLOCKING
constexpr int kErrorLog = 5, kErrorLogBytes = 6;  // CU_JIT_ERROR_LOG_BUFFER and its size

// State shared by all objects of one device; the last of them releases the context.
struct SharedContext {
  const Api& api;
  int device = 0, ordinal = 0;
  cuda::Context context = nullptr;

  Mutex mutex;
  std::vector<cuda::DriverEvent> idle
      MILLRACE_GUARDED_BY(mutex);  // completed events for reuse: every operation needs two

  explicit SharedContext(const Api& api) : api(api) {}
  ~SharedContext();
  SharedContext(const SharedContext&) = delete;
  SharedContext& operator=(const SharedContext&) = delete;

  void check(Result result, const char* what) const {
    if (result == 0) return;
    const std::string text = fmt::format("{}: {}", what, cuda::name_of(api, result));
    if (result == kOutOfMemory) throw OutOfMemory(ErrorCode::out_of_memory, text, "the device");
    if (is_one_of(kLost, result)) throw DeviceLost(ErrorCode::unavailable, "the device was lost while " + text);
    throw Failure(ErrorCode::internal, "the driver refused a call while " + text);
  }
};

// Makes the device's context current for the calling thread while the object lives.
class CurrentContext {
 public:
  explicit CurrentContext(const SharedContext& shared) : api_(shared.api) {
    api_.context_current(&before_);
    if (before_ == shared.context) return;
    shared.check(api_.context_set(shared.context), "taking its context");
    changed_ = true;
  }
  ~CurrentContext() {
    if (changed_) api_.context_set(before_);
  }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

 private:
  const Api& api_;
  cuda::Context before_ = nullptr;
  bool changed_ = false;
};

SharedContext::~SharedContext() {
  if (context == nullptr) return;
  try {
    const CurrentContext current(*this);
    for (const cuda::DriverEvent event : idle) api.event_destroy(event);
  } catch (const Failure&) {  // NOLINT(bugprone-empty-catch)
  }
  api.context_release(device);
}

class DeviceMemory : public DeviceAllocation {
 public:
  DeviceMemory(std::shared_ptr<SharedContext> shared, Bytes size, MemoryReservations reservations)
      : DeviceAllocation(size, std::move(reservations)), shared_(std::move(shared)) {
    const CurrentContext current(*shared_);
    cuda::DevicePointer pointer = 0;
    shared_->check(shared_->api.allocate(&pointer, std::max<std::uint64_t>(size.count, 1)), "allocating");
    handle = pointer;
  }
  ~DeviceMemory() override {
    // An error here comes from an earlier call, which has reported it.
    try {
      const CurrentContext current(*shared_);
      shared_->api.free(handle);
    } catch (const Failure&) {  // NOLINT(bugprone-empty-catch)
    }
  }

 private:
  std::shared_ptr<SharedContext> shared_;
};

class CudaEvent : public DeviceEvent {
 public:
  explicit CudaEvent(std::shared_ptr<SharedContext> shared) : shared_(std::move(shared)) {
    const MutexLock lock(shared_->mutex);
    if (shared_->idle.empty()) {
      shared_->check(shared_->api.event_create(&event, 0), "creating an event");
    } else {
      event = shared_->idle.back();
      shared_->idle.pop_back();
    }
  }
  ~CudaEvent() override {
    if (passed) {
      const MutexLock lock(shared_->mutex);
      shared_->idle.push_back(event);
      return;
    }
    try {
      const CurrentContext current(*shared_);
      shared_->api.event_destroy(event);
    } catch (const Failure&) {  // NOLINT(bugprone-empty-catch)
    }
  }
  cuda::DriverEvent event = nullptr;
  bool passed = false;

 private:
  std::shared_ptr<SharedContext> shared_;
};

// Memory allocated by other code in this process's primary context.
class AdoptedMemory : public DeviceAllocation {
 public:
  AdoptedMemory(const std::shared_ptr<SharedContext>& ours, std::uint64_t address, Bytes size)
      : DeviceAllocation(size, {}) {
    const SharedContext& shared = *ours;
    handle = address;
    if (size.count > ~std::uint64_t{0} - address)
      refuse("it reaches beyond the address space", "pass the array's own shape");
    const CurrentContext current(shared);
    // Memory that is mapped in segments (cuMemMap) has one range per segment.
    for (std::uint64_t at = address, end = address + size.count; at < end;) {
      constexpr int kContext = 1, kMemoryType = 2, kOrdinal = 9;  // CU_POINTER_ATTRIBUTE_...
      constexpr unsigned kOnDevice = 2;                           // CU_MEMORYTYPE_DEVICE
      unsigned type = 0;
      int ordinal = -1;
      cuda::Context context = nullptr;
      if (!ask(shared, type, kMemoryType, at) || type != kOnDevice || !ask(shared, ordinal, kOrdinal, at)) {
        if (at == address) {
          refuse("no device memory found at its address",
                 "pass memory that a CUDA library has allocated in this process");
        }
        refuse(fmt::format("only {} of its {} bytes are allocated", at - address, size.count),
               "pass the array's own shape");
      }
      if (ordinal != shared.ordinal) {
        refuse(fmt::format("it is on CUDA device {}; expected device {}", ordinal, shared.ordinal),
               "copy it to that device");
      }
      if (ask(shared, context, kContext, at) && context != nullptr && context != shared.context) {
        refuse("it was allocated outside the device's primary context", "allocate it with cudaMalloc or PyTorch");
      }
      cuda::DevicePointer base = 0;
      std::size_t bytes = 0;
      const Result found = shared.api.address_range(&base, &bytes, at);
      if (!is_one_of(kUnknown, found)) shared.check(found, "querying the size of memory");
      // Some kinds of memory have no ranges: then the last byte is checked.
      at = found == 0 && base + bytes > at ? base + bytes : std::max(at + 1, end - 1);
    }
    // Code that passes an array by DLPack or __cuda_array_interface__ has ordered its work with the default stream. A
    // queue's own stream does not wait for that one, so it waits for this event.
    const auto event = std::make_shared<CudaEvent>(ours);
    constexpr cuda::Stream kDefault = nullptr;
    shared.check(shared.api.event_record(event->event, kDefault), "recording an event");
    owner_event = event;
  }

 private:
  [[noreturn]] static void refuse(const std::string& why, const char* remedy) {
    throw Failure(ErrorCode::usage, why, "", remedy);
  }
  // False if the driver knows no memory at this address.
  template <typename T>
  static bool ask(const SharedContext& shared, T& value, int attribute, std::uint64_t address) {
    const Result result = shared.api.pointer_attribute(&value, attribute, address);
    if (is_one_of(kUnknown, result)) return false;
    shared.check(result, "querying the owner of memory");
    return true;
  }
};

class PinnedMemory : public DeviceAllocation {
 public:
  PinnedMemory(std::shared_ptr<SharedContext> shared, Bytes size, MemoryReservations reservations)
      : DeviceAllocation(size, std::move(reservations)), shared_(std::move(shared)) {
    const CurrentContext current(*shared_);
    void* pointer = nullptr;
    shared_->check(shared_->api.host_allocate(&pointer, std::max<std::uint64_t>(size.count, 1), kPortable),
                   "allocating pinned memory");
    host = static_cast<std::byte*>(pointer);
  }
  ~PinnedMemory() override {
    try {
      const CurrentContext current(*shared_);
      shared_->api.host_free(host);
    } catch (const Failure&) {  // NOLINT(bugprone-empty-catch)
    }
  }

 private:
  std::shared_ptr<SharedContext> shared_;
};

class CudaQueue : public QueueBackend {
 public:
  explicit CudaQueue(std::shared_ptr<SharedContext> shared) : shared_(std::move(shared)), api_(shared_->api) {
    const CurrentContext current(*shared_);
    // This stream does not wait for other work of this process on the same device.
    shared_->check(api_.stream_create(&stream_, kNonBlocking), "creating a queue");
  }
  ~CudaQueue() override {
    try {
      const CurrentContext current(*shared_);
      api_.stream_destroy(stream_);
    } catch (const Failure&) {  // NOLINT(bugprone-empty-catch)
    }
  }

  void upload(const std::byte* from, DeviceAllocation& to, std::size_t offset, std::size_t bytes) override {
    const CurrentContext current(*shared_);
    shared_->check(api_.to_device(to.handle + offset, from, bytes, stream_), "copying to it");
  }
  void download(const DeviceAllocation& from, std::size_t offset, std::byte* to, std::size_t bytes) override {
    const CurrentContext current(*shared_);
    shared_->check(api_.to_host(to, from.handle + offset, bytes, stream_), "copying from it");
  }
  void fill(DeviceAllocation& to, std::size_t offset, std::size_t bytes, std::uint8_t value) override {
    const CurrentContext current(*shared_);
    shared_->check(api_.fill(to.handle + offset, value, bytes, stream_), "filling its memory");
  }
  void launch(void* kernel, unsigned blocks, unsigned threads, std::span<const KernelArgument> arguments) override {
    const CurrentContext current(*shared_);
    std::vector<std::uint64_t> values(arguments.size());
    std::vector<void*> pointers(arguments.size());
    for (std::size_t at = 0; at < arguments.size(); ++at) {
      if (arguments[at].array) {
        values[at] = arguments[at].array->handle;
      } else {
        std::memcpy(&values[at], arguments[at].value.data(), sizeof(std::uint64_t));
      }
      pointers[at] = &values[at];
    }
    shared_->check(api_.launch(static_cast<cuda::Function>(kernel), blocks, 1, 1, threads, 1, 1, 0, stream_,
                               pointers.data(), nullptr),
                   "launching a kernel");
  }
  std::shared_ptr<DeviceEvent> record() override {
    const CurrentContext current(*shared_);
    auto event = std::make_shared<CudaEvent>(shared_);
    shared_->check(api_.event_record(event->event, stream_), "recording an event");
    return event;
  }
  void wait(DeviceEvent& event) override {
    const CurrentContext current(*shared_);
    shared_->check(api_.stream_wait(stream_, dynamic_cast<CudaEvent&>(event).event, 0), "waiting for an event");
  }
  void finish() override {
    const CurrentContext current(*shared_);
    shared_->check(api_.stream_synchronize(stream_), "working");
  }
  double seconds_between(DeviceEvent& from, DeviceEvent& to) override {
    const CurrentContext current(*shared_);
    float milliseconds = 0;
    auto &begin = dynamic_cast<CudaEvent&>(from), &end = dynamic_cast<CudaEvent&>(to);
    shared_->check(api_.event_elapsed(&milliseconds, begin.event, end.event), "reading times");
    begin.passed = end.passed = true;
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  std::shared_ptr<SharedContext> shared_;
  const Api& api_;
  cuda::Stream stream_ = nullptr;
};

class CudaBackend : public DeviceBackend {
 public:
  explicit CudaBackend(std::shared_ptr<SharedContext> shared) : shared_(std::move(shared)) {}
  ~CudaBackend() override {
    try {
      const CurrentContext current(*shared_);
      for (const auto& [hash, module] : modules_) shared_->api.module_unload(module);
    } catch (const Failure&) {  // NOLINT(bugprone-empty-catch)
    }
  }

  std::shared_ptr<DeviceAllocation> allocate(Bytes size, MemoryReservations reservations) override {
    return std::make_shared<DeviceMemory>(shared_, size, std::move(reservations));
  }
  std::shared_ptr<DeviceAllocation> allocate_pinned(Bytes size, MemoryReservations reservations) override {
    return std::make_shared<PinnedMemory>(shared_, size, std::move(reservations));
  }
  std::shared_ptr<DeviceAllocation> adopt(std::uint64_t address, Bytes size) override {
    return std::make_shared<AdoptedMemory>(shared_, address, size);
  }
  std::unique_ptr<QueueBackend> make_queue() override { return std::make_unique<CudaQueue>(shared_); }
  Bytes free_memory() override {
    const CurrentContext current(*shared_);
    std::size_t free = 0, all = 0;
    shared_->check(shared_->api.memory_info(&free, &all), "querying its free memory");
    return {free};
  }

  void* kernel(const KernelSource& source, const KernelEntry& entry) override {
    const MutexLock lock(mutex_);
    const std::string name = fmt::format("{}/{}", source.name, entry.name);
    const auto known = kernels_.find(name);
    if (known != kernels_.end()) return known->second;
    if (source.ptx.empty()) {
      throw Failure(
          ErrorCode::unavailable,
          fmt::format("this build has no kernels of '{}' for NVIDIA devices: it was built without clang", source.name));
    }
    const CurrentContext current(*shared_);
    cuda::Function function = nullptr;
    shared_->check(shared_->api.module_function(&function, module_of(source), std::string(entry.name).c_str()),
                   "looking for a kernel");
    kernels_[name] = function;
    return function;
  }

 private:
  cuda::Module module_of(const KernelSource& source) MILLRACE_REQUIRES(mutex_) {
    const std::string hash(source.hash);
    const auto known = modules_.find(hash);
    if (known != modules_.end()) return known->second;
    const std::string ptx(source.ptx);  // copied, as the driver needs a terminating zero
    std::array<char, 2048> log{};
    std::array<int, 2> options = {kErrorLog, kErrorLogBytes};
    std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
    cuda::Module module = nullptr;
    const Result result = shared_->api.module_load(&module, ptx.c_str(), 2, options.data(), values.data());
    if (is_one_of(kNotCompiled, result)) {
      throw Failure(ErrorCode::unavailable, fmt::format("the driver failed to compile the kernels of '{}': {} {}",
                                                        source.name, cuda::name_of(shared_->api, result), log.data()));
    }
    shared_->check(result, "compiling kernels");
    modules_[hash] = module;
    return module;
  }

  std::shared_ptr<SharedContext> shared_;
  Mutex mutex_;
  std::map<std::string, cuda::Module> modules_ MILLRACE_GUARDED_BY(mutex_);
  std::map<std::string, void*> kernels_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace
}  // namespace cuda

std::unique_ptr<DeviceBackend> open_cuda_device(int index) {
  using namespace cuda;
  const CudaDriver driver = find_cuda_driver();
  std::string reason = driver.reason;
  const Api* api = cuda::find_api(kCudaLibrary, reason);
  if (api == nullptr || index < 0 || static_cast<std::size_t>(index) >= driver.devices.size()) {
    throw Failure(ErrorCode::unavailable, reason.empty() ? "there is no such device" : reason);
  }
  auto shared = std::make_shared<SharedContext>(*api);
  shared->ordinal = driver.devices[static_cast<std::size_t>(index)].ordinal;
  shared->check(api->device_get(&shared->device, shared->ordinal), "looking for it");
  shared->check(api->context_retain(&shared->context, shared->device), "opening it");
  return std::make_unique<CudaBackend>(std::move(shared));
}

}  // namespace millrace
