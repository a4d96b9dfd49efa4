// A library that is NVIDIA's driver to src/device/cuda, and as unkind as the driver's interface allows: what a stream
// is told happens when somebody waits for it and no earlier, fresh memory holds rubbish, a context has to be current, a
// lost device stays lost. Kernels are the bodies of this project, compiled for the host (host_launch.h).
//
//   FAKE_CUDA         "does not start", "no device", "no count", "silent"; otherwise two devices that work
//   FAKE_CUDA_MEMORY  what a device has, in bytes; 1 GiB unless told
//   FAKE_CUDA_SEGMENT bytes of a range that an allocation says it has, where it is mapped piece by piece
//   FAKE_CUDA_ORDER   forward, reverse, random: of blocks and of the threads of a block between barriers
//   FAKE_CUDA_FAIL    "alloc:3=memory": the third allocation finds no memory; "3+": none does from the third on
//
// Calls that fail are alloc, pinned, copy, launch, stream, event, sync, module. Ends are memory, lost, and at launches
// also "wrong" (it does nothing) and "late" (lost when it runs). Several failures stand behind commas.
#include "tests/support/gpu/fake_cuda.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/support/gpu/fake_driver.h"

namespace {

using namespace millrace::fake;  // NOLINT(google-build-using-namespace): this file is its entry points

// A copy or a fill of `bytes` at a device's address, when the stream comes to it.
int enqueue_access(void* stream, unsigned long long address, std::size_t bytes, const char* what,
                   const std::function<void(std::byte*)>& access) {
  const std::lock_guard lock(mutex);
  if (const int code = begin_call("copy"); code != 0) return code;
  enqueue(stream_of(stream), [=]() -> std::string {
    std::size_t offset = 0;
    Memory* memory = find_memory(address, bytes, offset, what);
    if (memory == nullptr) return "lost";
    access(memory->data.data() + offset);
    return "";
  });
  return 0;
}

}  // namespace

extern "C" {

void fake_cuda_reset() {
  const std::lock_guard lock(mutex);
  driver() = Driver();
}
const char* fake_cuda_violations() { return driver().violations.c_str(); }
const char* fake_cuda_summary() {
  const std::lock_guard lock(mutex);
  Driver& d = driver();
  std::size_t live = 0;
  for (const auto& [address, memory] : d.memory) live += memory.freed ? 0 : 1;
  d.summary = "live " + std::to_string(live + d.pinned.size()) + " streams " + std::to_string(d.streams.size()) +
              " events " + std::to_string(d.events.size()) + " contexts " + std::to_string(d.contexts);
  for (const char* call : {"alloc", "pinned", "copy", "launch", "stream", "event", "sync", "module"}) {
    d.summary += std::string(" call_") + call + " " + std::to_string(d.calls[call]);
  }
  return d.summary.c_str();
}

int cuInit(unsigned flags) { return flags != 0 || pretends("does not start") ? 999 : 0; }

int cuDriverGetVersion(int* version) {
  *version = 12040;
  return 0;
}

int cuDeviceGetCount(int* count) {
  *count = pretends("no device") ? 0 : 3;
  return pretends("no count") ? 3 : 0;
}

int cuDeviceGet(int* device, int ordinal) {
  if (pretends("silent") || ordinal == 1) return 101;  // the middle one is broken
  *device = 100 + ordinal;
  return 0;
}

int cuDeviceGetName(char* name, int length, int device) {
  std::strncpy(name, device == 100 ? "Fake GPU A" : "Fake GPU B", static_cast<std::size_t>(length));
  return 0;
}

int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  *bytes = device == 100 ? std::size_t{24} << 30 : std::size_t{80} << 30;
  return 0;
}

int cuDeviceGetUuid_v2(unsigned char* uuid, int device) {
  for (int at = 0; at < 16; ++at) uuid[at] = static_cast<unsigned char>(device + at);
  return 0;
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  *value = attribute == 75 ? (device == 100 ? 8 : 9) : attribute == 76 ? (device == 100 ? 6 : 0) : -1;
  return 0;
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  const std::lock_guard lock(mutex);
  ++driver().contexts;
  *context = reinterpret_cast<void*>(static_cast<std::uintptr_t>(device));
  return driver().lost ? kLost : 0;
}
int cuDevicePrimaryCtxRelease_v2(int /*device*/) {
  const std::lock_guard lock(mutex);
  --driver().contexts;
  return 0;
}
int cuCtxGetCurrent(void** context) {
  *context = reinterpret_cast<void*>(static_cast<std::uintptr_t>(current));
  return 0;
}
int cuCtxSetCurrent(void* context) {
  current = static_cast<int>(reinterpret_cast<std::uintptr_t>(context));
  return 0;
}

int cuMemGetInfo_v2(std::size_t* free, std::size_t* all) {
  const std::lock_guard lock(mutex);
  *all = driver().all;
  *free = driver().all - driver().used;
  return driver().lost ? kLost : 0;
}

int cuMemAlloc_v2(unsigned long long* pointer, std::size_t bytes) {
  const std::lock_guard lock(mutex);
  if (const int code = begin_call("alloc"); code != 0) return code;
  Driver& d = driver();
  if (bytes == 0) return kInvalid;
  if (bytes > d.all - d.used) return kNoMemory;
  d.used += bytes;
  Memory& memory = d.memory[d.next];
  memory.data = StaleMemory(bytes);
  memory.context = current;
  *pointer = d.next;
  d.next += (bytes + 4095) / 4096 * 4096 + 4096;
  return 0;
}

int cuMemGetAddressRange_v2(unsigned long long* base, std::size_t* bytes, unsigned long long pointer) {
  const std::lock_guard lock(mutex);
  if (driver().lost) return kLost;
  const auto after = driver().memory.upper_bound(pointer);
  if (after == driver().memory.begin()) return kInvalid;
  const auto& [begin, memory] = *std::prev(after);
  if (memory.freed || pointer - begin >= memory.data.size()) return kInvalid;
  if (driver().segment > 0) {
    // Mapped piece by piece: each has a range.
    const unsigned long long piece = (pointer - begin) / driver().segment * driver().segment;
    *base = begin + piece;
    *bytes = std::min<std::size_t>(driver().segment, memory.data.size() - piece);
    return 0;
  }
  *base = begin;
  *bytes = memory.data.size();
  return 0;
}

int cuPointerGetAttribute(void* value, int attribute, unsigned long long pointer) {
  const std::lock_guard lock(mutex);
  unsigned long long base = 0;
  std::size_t bytes = 0;
  if (const int code = cuMemGetAddressRange_v2(&base, &bytes, pointer); code != 0) return code;
  const int context = std::prev(driver().memory.upper_bound(pointer))->second.context;
  if (attribute == 1) {
    *static_cast<void**>(value) = reinterpret_cast<void*>(static_cast<std::uintptr_t>(context));
  } else if (attribute == 2) {
    *static_cast<unsigned*>(value) = 2;
  } else if (attribute == 9) {
    *static_cast<int*>(value) = context - 100;
  } else {
    return kInvalid;
  }
  return 0;
}

int cuMemFree_v2(unsigned long long pointer) {
  const std::lock_guard lock(mutex);
  Driver& d = driver();
  const auto found = d.memory.find(pointer);
  if (found == d.memory.end() || found->second.freed) {
    violate("memory is freed that is none, or was freed");
    return kInvalid;
  }
  d.used -= found->second.data.size();
  found->second.freed = true;
  found->second.data = {};
  found->second.shadow.reset();
  return d.lost ? kLost : 0;
}

int cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned /*flags*/) {
  const std::lock_guard lock(mutex);
  if (const int code = begin_call("pinned"); code != 0) return code;
  *pointer = std::malloc(bytes);
  std::memset(*pointer, 0xA5, bytes);
  driver().pinned[*pointer] = bytes;
  return 0;
}
int cuMemFreeHost(void* pointer) {
  const std::lock_guard lock(mutex);
  if (driver().pinned.erase(pointer) == 0) violate("pinned memory is freed that is none");
  std::free(pointer);
  return 0;
}

int cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, std::size_t bytes, void* stream) {
  return enqueue_access(stream, to, bytes, "a copy to the device",
                        [=](std::byte* at) { std::memcpy(at, from, bytes); });
}

int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, std::size_t bytes, void* stream) {
  return enqueue_access(stream, from, bytes, "a copy from the device",
                        [=](const std::byte* at) { std::memcpy(to, at, bytes); });
}

int cuMemsetD8Async(unsigned long long to, unsigned char value, std::size_t bytes, void* stream) {
  return enqueue_access(stream, to, bytes, "a fill", [=](std::byte* at) { std::memset(at, value, bytes); });
}

int cuModuleLoadDataEx(void** module, const void* image, unsigned /*count*/, int* /*options*/, void** /*values*/) {
  const std::lock_guard lock(mutex);
  if (const int code = begin_call("module"); code != 0) return code;
  const std::string ptx = static_cast<const char*>(image);
  if (ptx.find(".version") == std::string::npos) return kBadPtx;
  auto made = std::make_unique<FakeModule>();
  const std::string mark = ".visible .entry ";
  for (std::size_t at = ptx.find(mark); at != std::string::npos; at = ptx.find(mark, at + 1)) {
    const std::size_t begin = at + mark.size(), open = ptx.find('(', begin), close = ptx.find(')', open);
    std::size_t parameters = 0;
    for (std::size_t p = ptx.find(".param", open); p < close; p = ptx.find(".param", p + 1)) ++parameters;
    made->entries[ptx.substr(begin, open - begin)] = parameters;
  }
  *module = made.get();
  driver().modules.push_back(std::move(made));
  return 0;
}
int cuModuleUnload(void* /*module*/) { return 0; }

int cuModuleGetFunction(const Kernel** function, void* module, const char* name) {
  const std::lock_guard lock(mutex);
  const auto& entries = static_cast<FakeModule*>(module)->entries;
  const auto entry = entries.find(name);
  const auto kernel = millrace::host::kernels().find(name);
  if (entry == entries.end()) return kNotFound;
  if (kernel == millrace::host::kernels().end()) {
    violate(std::string("no body was compiled for the host with the kernel ") + name);
    return kNotFound;
  }
  if (kernel->second.parameters.size() != entry->second) {
    violate(std::string("the PTX and the host do not agree in the parameters of ") + name);
    return kNotFound;
  }
  *function = &kernel->second;
  return 0;
}

int cuLaunchKernel(const Kernel* kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned /*shared_bytes*/, void* stream, void** parameters,
                   void** /*extra*/) {
  const std::lock_guard lock(mutex);
  std::string end;
  if (const int code = begin_call("launch", &end); code != 0) return code;
  if (block_x != kernel->threads || block_y != 1 || block_z != 1 || grid_x == 0 || grid_y != 1 || grid_z != 1)
    return kInvalid;
  // Values are taken now; what pointers lead to, when it runs.
  std::vector<std::uint64_t> values;
  for (std::size_t at = 0; at < kernel->parameters.size(); ++at) {
    std::uint64_t value = 0;
    std::memcpy(&value, parameters[at], kernel->parameters[at].array ? 8 : kernel->parameters[at].bytes);
    values.push_back(value);
  }
  enqueue(stream_of(stream), [=, order = driver().order, seed = driver().calls["launch"]]() -> std::string {
    if (end == "wrong") return "";
    if (end == "late") return "lost";
    std::vector<Argument> arguments(values.size());
    for (std::size_t at = 0; at < values.size(); ++at) {
      if (!kernel->parameters[at].array) {
        arguments[at].value = &values[at];
        continue;
      }
      std::size_t offset = 0;
      Memory* memory = find_memory(values[at], 0, offset, "a kernel");
      if (memory == nullptr) return "lost";
      if (!memory->shadow) {
        memory->shadow.reset(static_cast<Shadow*>(std::calloc(memory->data.size(), sizeof(Shadow))));
      }
      const std::size_t element = kernel->parameters[at].element;
      arguments[at].array = {memory->data.data() + offset,
                             (memory->data.size() - offset) / element,
                             element,
                             memory->shadow.get() + offset,
                             "global memory",
                             false};
    }
    return millrace::host::launch(*kernel, grid_x, arguments, order, seed);
  });
  return 0;
}

int cuStreamCreate(FakeStream** stream, unsigned /*flags*/) {
  const std::lock_guard lock(mutex);
  if (const int code = begin_call("stream"); code != 0) return code;
  *stream = new FakeStream;
  driver().streams.insert(*stream);
  return 0;
}
int cuStreamDestroy_v2(FakeStream* stream) {
  const std::lock_guard lock(mutex);
  // Work that is left in the stream is executed here and now.
  if (!driver().lost) drain(stream);
  driver().streams.erase(stream);
  for (auto& [raw, event] : driver().events) {
    if (event->stream == stream) event->stream = nullptr;
  }
  delete stream;
  return 0;
}
int cuStreamSynchronize(FakeStream* stream) {
  const std::lock_guard lock(mutex);
  if (const int code = begin_call("sync"); code != 0) return code;
  return drain(stream_of(stream));
}
int cuStreamWaitEvent(FakeStream* stream, FakeEvent* event, unsigned /*flags*/) {
  const std::lock_guard lock(mutex);
  if (const int code = begin_call("event"); code != 0) return code;
  const auto found = driver().events.find(event);
  if (found == driver().events.end()) return kInvalid;
  if (event->stream != nullptr) stream_of(stream)->steps.push_back({nullptr, nullptr, found->second, event->recorded});
  return 0;
}
int cuEventCreate(FakeEvent** event, unsigned /*flags*/) {
  const std::lock_guard lock(mutex);
  if (const int code = begin_call("event"); code != 0) return code;
  auto made = std::make_shared<FakeEvent>();
  *event = made.get();
  driver().events[*event] = std::move(made);
  return 0;
}
int cuEventDestroy_v2(FakeEvent* event) {
  const std::lock_guard lock(mutex);
  driver().events.erase(event);
  return 0;
}
int cuEventRecord(FakeEvent* event, FakeStream* stream) {
  const std::lock_guard lock(mutex);
  if (const int code = begin_call("event"); code != 0) return code;
  const auto found = driver().events.find(event);
  if (found == driver().events.end()) return kInvalid;
  event->stream = stream_of(stream);
  ++event->recorded;
  event->stream->steps.push_back({nullptr, found->second, nullptr, 0});
  return 0;
}
int cuEventElapsedTime(float* milliseconds, FakeEvent* from, FakeEvent* to) {
  const std::lock_guard lock(mutex);
  if (driver().lost) return kLost;
  if (from->passed < from->recorded || to->passed < to->recorded || from->recorded == 0) return kNotReady;
  *milliseconds = static_cast<float>(to->at - from->at);
  return 0;
}

int cuGetErrorName(int result, const char** name) {
  *name = result == kNoMemory ? "CUDA_ERROR_OUT_OF_MEMORY"
          : result == kLost   ? "CUDA_ERROR_LAUNCH_FAILED"
                              : "CUDA_ERROR";
  return 0;
}

}  // extern "C"
