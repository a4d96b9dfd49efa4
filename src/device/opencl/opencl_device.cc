// Implements src/device/backend.h with OpenCL 1.2.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "src/base/mutex.h"
#include "src/device/open_device.h"
#include "src/device/opencl/api.h"
#include "src/device/opencl/devices.h"
#include "src/memory/buffer.h"

namespace millrace {
namespace opencl {
namespace {

// CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_HOST_MEMORY, CL_INVALID_BUFFER_SIZE.
constexpr std::array<Result, 3> kOutOfMemory = {-4, -6, -61};
// CL_DEVICE_NOT_AVAILABLE, CL_OUT_OF_RESOURCES (left by a kernel that faulted), CL_INVALID_COMMAND_QUEUE. Results below
// kMinKnownError, which no specification defines, count as well.
constexpr std::array<Result, 3> kLost = {-2, -5, -36};
constexpr Result kMinKnownError = -1100;

constexpr opencl::Flags kReadWrite = 1, kProfiling = 2;
constexpr std::uint32_t kContextPlatform = 0x1084, kBuildLog = 0x1183, kEnded = 0x1283;

// State shared by all objects of one device.
struct SharedContext {
  const Api& api;
  opencl::DeviceId device = nullptr;
  opencl::Context context = nullptr;

  explicit SharedContext(const Api& api) : api(api) {}
  ~SharedContext() {
    if (context != nullptr) api.release_context(context);
  }
  SharedContext(const SharedContext&) = delete;
  SharedContext& operator=(const SharedContext&) = delete;

  static void check(Result result, const char* what) {
    if (result == 0) return;
    const std::string text = fmt::format("{}: OpenCL's error {}", what, result);
    if (is_one_of(kOutOfMemory, result)) throw OutOfMemory(ErrorCode::out_of_memory, text, "the device");
    if (is_one_of(kLost, result) || result < kMinKnownError) {
      throw DeviceLost(ErrorCode::unavailable, "the device was lost while " + text);
    }
    throw Failure(ErrorCode::internal, "the driver refused a call while " + text);
  }
};

class DeviceMemory : public DeviceAllocation {
 public:
  DeviceMemory(std::shared_ptr<SharedContext> shared, Bytes size, MemoryReservations reservations)
      : DeviceAllocation(size, std::move(reservations)), shared_(std::move(shared)) {
    Result result = 0;
    memory = shared_->api.create_buffer(shared_->context, kReadWrite, std::max<std::uint64_t>(size.count, 1), nullptr,
                                        &result);
    SharedContext::check(result, "allocating");
    handle = reinterpret_cast<std::uintptr_t>(memory);
  }
  ~DeviceMemory() override { shared_->api.release_memory(memory); }
  opencl::Memory memory = nullptr;

 private:
  std::shared_ptr<SharedContext> shared_;
};

// Host memory aligned to pages. OpenCL has no page-locked memory; drivers copy page-aligned memory as well as they can.
class PageMemory : public DeviceAllocation {
 public:
  PageMemory(Bytes size, MemoryReservations reservations) : DeviceAllocation(size, std::move(reservations)) {
    constexpr std::size_t kPage = 4096;
    const std::size_t bytes = (std::max<std::size_t>(size.count, 1) + kPage - 1) / kPage * kPage;
    host = static_cast<std::byte*>(std::aligned_alloc(kPage, bytes));
    if (host == nullptr) throw_no_memory(bytes);
  }
  ~PageMemory() override { std::free(host); }
};

class OpenClEvent : public DeviceEvent {
 public:
  explicit OpenClEvent(std::shared_ptr<SharedContext> shared) : shared_(std::move(shared)) {}
  ~OpenClEvent() override {
    if (event != nullptr) shared_->api.release_event(event);
  }
  opencl::ClEvent event = nullptr;

 private:
  std::shared_ptr<SharedContext> shared_;
};

// A kernel and its mutex. Arguments are part of the kernel object, so only one launch at a time may set them.
struct SharedKernel {
  opencl::Kernel kernel = nullptr;
  Mutex mutex;
};

class OpenClQueue : public QueueBackend {
 public:
  explicit OpenClQueue(std::shared_ptr<SharedContext> shared) : shared_(std::move(shared)), api_(shared_->api) {
    Result result = 0;
    queue_ = api_.create_queue(shared_->context, shared_->device, kProfiling, &result);
    SharedContext::check(result, "creating a queue");
  }
  ~OpenClQueue() override { api_.release_queue(queue_); }

  void upload(const std::byte* from, DeviceAllocation& to, std::size_t offset, std::size_t bytes) override {
    SharedContext::check(api_.write(queue_, memory_of(to), 0, offset, bytes, from, 0, nullptr, nullptr),
                         "copying to it");
  }
  void download(const DeviceAllocation& from, std::size_t offset, std::byte* to, std::size_t bytes) override {
    SharedContext::check(api_.read(queue_, memory_of(from), 0, offset, bytes, to, 0, nullptr, nullptr),
                         "copying from it");
  }
  void fill(DeviceAllocation& to, std::size_t offset, std::size_t bytes, std::uint8_t value) override {
    SharedContext::check(api_.fill(queue_, memory_of(to), &value, 1, offset, bytes, 0, nullptr, nullptr),
                         "filling its memory");
  }
  void launch(void* kernel, unsigned blocks, unsigned threads, std::span<const KernelArgument> arguments) override {
    SharedKernel& shared = *static_cast<SharedKernel*>(kernel);
    const MutexLock lock(shared.mutex);
    for (std::size_t at = 0; at < arguments.size(); ++at) {
      const KernelArgument& argument = arguments[at];
      const auto place = static_cast<std::uint32_t>(at);
      if (argument.array) {
        const opencl::Memory memory = memory_of(*argument.array);
        // The argument is the handle itself, so its size is passed.
        constexpr std::size_t kHandle = sizeof(opencl::Memory);  // NOLINT(bugprone-sizeof-expression)
        SharedContext::check(api_.set_argument(shared.kernel, place, kHandle, &memory), "passing an array");
      } else {
        SharedContext::check(api_.set_argument(shared.kernel, place, argument.bytes, argument.value.data()),
                             "passing a number");
      }
    }
    const std::size_t all = std::size_t{blocks} * threads, group = threads;
    SharedContext::check(api_.launch(queue_, shared.kernel, 1, nullptr, &all, &group, 0, nullptr, nullptr),
                         "launching a kernel");
  }
  std::shared_ptr<DeviceEvent> record() override {
    auto event = std::make_shared<OpenClEvent>(shared_);
    SharedContext::check(api_.marker(queue_, 0, nullptr, &event->event), "recording an event");
    // Without a flush the marker may never be executed, and a queue that waits for it would wait forever.
    SharedContext::check(api_.flush(queue_), "recording an event");
    return event;
  }
  void wait(DeviceEvent& event) override {
    const opencl::ClEvent awaited = dynamic_cast<OpenClEvent&>(event).event;
    SharedContext::check(api_.barrier(queue_, 1, &awaited, nullptr), "waiting for an event");
  }
  void finish() override { SharedContext::check(api_.finish(queue_), "working"); }
  double seconds_between(DeviceEvent& from, DeviceEvent& to) override {
    std::uint64_t begin = 0, end = 0;
    // Some drivers record no times for markers; the result is then 0.
    if (api_.profiling(dynamic_cast<OpenClEvent&>(from).event, kEnded, sizeof(begin), &begin, nullptr) != 0) return 0;
    if (api_.profiling(dynamic_cast<OpenClEvent&>(to).event, kEnded, sizeof(end), &end, nullptr) != 0) return 0;
    return end > begin ? static_cast<double>(end - begin) * 1e-9 : 0;
  }

 private:
  static opencl::Memory memory_of(const DeviceAllocation& allocation) {
    return dynamic_cast<const DeviceMemory&>(allocation).memory;
  }

  std::shared_ptr<SharedContext> shared_;
  const Api& api_;
  opencl::CommandQueue queue_ = nullptr;
};

class OpenClBackend : public DeviceBackend {
 public:
  OpenClBackend(std::shared_ptr<SharedContext> shared, Bytes memory, bool assume_exact)
      : shared_(std::move(shared)), memory_(memory), assume_exact_(assume_exact) {}
  ~OpenClBackend() override {
    for (const auto& [name, kernel] : kernels_) shared_->api.release_kernel(kernel->kernel);
    for (const auto& [name, program] : programs_) shared_->api.release_program(program);
  }

  std::shared_ptr<DeviceAllocation> allocate(Bytes size, MemoryReservations reservations) override {
    return std::make_shared<DeviceMemory>(shared_, size, std::move(reservations));
  }
  std::shared_ptr<DeviceAllocation> allocate_pinned(Bytes size, MemoryReservations reservations) override {
    return std::make_shared<PageMemory>(size, std::move(reservations));
  }
  std::shared_ptr<DeviceAllocation> adopt(std::uint64_t, Bytes) override {
    throw Failure(ErrorCode::unavailable, "memory of an OpenCL device cannot be passed by address", "",
                  "pass host memory");
  }
  std::unique_ptr<QueueBackend> make_queue() override { return std::make_unique<OpenClQueue>(shared_); }
  Bytes free_memory() override { return memory_; }

  void* kernel(const KernelSource& source, const KernelEntry& entry) override {
    const MutexLock lock(mutex_);
    const std::string name = fmt::format("{}/{}", source.name, entry.name);
    const auto known = kernels_.find(name);
    if (known != kernels_.end()) return known->second.get();
    Result result = 0;
    auto kernel = std::make_unique<SharedKernel>();
    kernel->kernel = shared_->api.create_kernel(program_of(source), std::string(entry.name).c_str(), &result);
    SharedContext::check(result, "looking for a kernel");
    return (kernels_[name] = std::move(kernel)).get();
  }

 private:
  // Throws unless the device computes like the CPU: division and roots round to nearest, and denormals are not flushed
  // to zero.
  void check_numbers(const KernelSource& source) const {
    constexpr std::uint32_t kSingles = 0x101B, kDoubles = 0x1032;  // CL_DEVICE_SINGLE_FP_CONFIG, _DOUBLE_
    constexpr opencl::Flags kDenormals = 1, kNearest = 4, kFused = 32, kExactDivision = 128;
    const auto has = [&](std::uint32_t what, opencl::Flags needed) {
      opencl::Flags flags = 0;
      return shared_->api.device_info(shared_->device, what, sizeof(flags), &flags, nullptr) == 0 &&
             (flags & needed) == needed;
    };
    const bool exact = assume_exact_ || ((!source.singles || has(kSingles, kDenormals | kNearest | kExactDivision)) &&
                                         (!source.doubles || has(kDoubles, kDenormals | kNearest | kFused)));
    if (exact) return;
    throw Failure(
        ErrorCode::unavailable,
        fmt::format("its floating-point arithmetic is not exact enough for the kernels of '{}'", source.name));
  }

  opencl::Program program_of(const KernelSource& source) MILLRACE_REQUIRES(mutex_) {
    const std::string name(source.name);
    const auto known = programs_.find(name);
    if (known != programs_.end()) return known->second;
    check_numbers(source);
    const char* text = source.opencl.data();
    const std::size_t length = source.opencl.size();
    Result result = 0;
    opencl::Program program = shared_->api.create_program(shared_->context, 1, &text, &length, &result);
    SharedContext::check(result, "reading kernels");
    const char* const options =
        source.singles && !assume_exact_ ? "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt" : "-cl-std=CL1.2";
    if (shared_->api.build(program, 1, &shared_->device, options, nullptr, nullptr) != 0) {
      constexpr std::size_t kShown = 2000;
      std::size_t size = 0;
      shared_->api.build_info(program, shared_->device, kBuildLog, 0, nullptr, &size);
      std::string log(size, '\0');
      shared_->api.build_info(program, shared_->device, kBuildLog, log.size(), log.data(), nullptr);
      log.resize(std::min(std::min(log.find('\0'), log.size()), kShown));
      shared_->api.release_program(program);
      throw Failure(ErrorCode::unavailable,
                    fmt::format("the driver failed to compile the kernels of '{}': {}", source.name, log));
    }
    return programs_[name] = program;
  }

  std::shared_ptr<SharedContext> shared_;
  const Bytes memory_;
  const bool assume_exact_;
  Mutex mutex_;
  std::map<std::string, opencl::Program> programs_ MILLRACE_GUARDED_BY(mutex_);
  std::map<std::string, std::unique_ptr<SharedKernel>> kernels_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace
}  // namespace opencl

std::unique_ptr<DeviceBackend> open_opencl_device(int index, bool assume_exact) {
  using namespace opencl;
  const OpenClDevices found = find_opencl_devices();
  std::string reason = found.reason;
  const Api* api = opencl::find_api(reason);
  if (api == nullptr || index < 0 || static_cast<std::size_t>(index) >= found.devices.size()) {
    throw Failure(ErrorCode::unavailable, reason.empty() ? "there is no such device" : reason);
  }
  const OpenClDevice& device = found.devices[static_cast<std::size_t>(index)];
  auto shared = std::make_shared<SharedContext>(*api);
  shared->device = reinterpret_cast<opencl::DeviceId>(device.id);
  const std::array<std::intptr_t, 3> properties = {kContextPlatform, static_cast<std::intptr_t>(device.platform_id), 0};
  Result result = 0;
  shared->context = api->create_context(properties.data(), 1, &shared->device, nullptr, nullptr, &result);
  SharedContext::check(result, "opening it");
  // OpenCL cannot report free memory. A processor's memory is shared with the host, so only a quarter of it is used.
  return std::make_unique<OpenClBackend>(std::move(shared), Bytes{device.memory.count / (device.is_cpu ? 4 : 1)},
                                         assume_exact);
}

}  // namespace millrace
