// Input: the NVIDIA driver's library.
// Output: its functions as pointers, with the signatures of the CUDA driver API.
// Never: includes or links anything of CUDA; is used outside of this folder.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace millrace::cuda {

// CUresult: 0 is success. A device is a small number; contexts, modules, functions, streams and events are opaque.
using Result = int;
using DevicePointer = unsigned long long;
struct Context_;
struct Module_;
struct Function_;
struct Stream_;
struct Event_;
using Context = Context_*;
using Module = Module_*;
using Function = Function_*;
using Stream = Stream_*;
using DriverEvent = Event_*;

struct Uuid {
  unsigned char bytes[16];
};

// Function, symbol, parameters. Source: the CUDA driver API's reference, versions since 3.2 (those with _v2) or 4.0.
#define MILLRACE_CUDA_FUNCTIONS(F)                                                                              \
  F(init, cuInit, (unsigned flags))                                                                             \
  F(driver_version, cuDriverGetVersion, (int* version))                                                         \
  F(device_count, cuDeviceGetCount, (int* count))                                                               \
  F(device_get, cuDeviceGet, (int* device, int ordinal))                                                        \
  F(device_name, cuDeviceGetName, (char* name, int length, int device))                                         \
  F(device_memory, cuDeviceTotalMem_v2, (std::size_t * bytes, int device))                                      \
  F(device_attribute, cuDeviceGetAttribute, (int* value, int attribute, int device))                            \
  F(context_retain, cuDevicePrimaryCtxRetain, (Context * context, int device))                                  \
  F(context_release, cuDevicePrimaryCtxRelease_v2, (int device))                                                \
  F(context_current, cuCtxGetCurrent, (Context * context))                                                      \
  F(context_set, cuCtxSetCurrent, (Context context))                                                            \
  F(memory_info, cuMemGetInfo_v2, (std::size_t * free, std::size_t * all))                                      \
  F(allocate, cuMemAlloc_v2, (DevicePointer * pointer, std::size_t bytes))                                      \
  F(address_range, cuMemGetAddressRange_v2, (DevicePointer * base, std::size_t * bytes, DevicePointer pointer)) \
  F(pointer_attribute, cuPointerGetAttribute, (void* value, int attribute, DevicePointer pointer))              \
  F(free, cuMemFree_v2, (DevicePointer pointer))                                                                \
  F(host_allocate, cuMemHostAlloc, (void** pointer, std::size_t bytes, unsigned flags))                         \
  F(host_free, cuMemFreeHost, (void* pointer))                                                                  \
  F(to_device, cuMemcpyHtoDAsync_v2, (DevicePointer to, const void* from, std::size_t bytes, Stream stream))    \
  F(to_host, cuMemcpyDtoHAsync_v2, (void* to, DevicePointer from, std::size_t bytes, Stream stream))            \
  F(fill, cuMemsetD8Async, (DevicePointer to, unsigned char value, std::size_t bytes, Stream stream))           \
  F(module_load, cuModuleLoadDataEx,                                                                            \
    (Module * module, const void* image, unsigned count, int* options, void** values))                          \
  F(module_unload, cuModuleUnload, (Module module))                                                             \
  F(module_function, cuModuleGetFunction, (Function * function, Module module, const char* name))               \
  F(launch, cuLaunchKernel,                                                                                     \
    (Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,  \
     unsigned block_z, unsigned shared_bytes, Stream stream, void** parameters, void** extra))                  \
  F(stream_create, cuStreamCreate, (Stream * stream, unsigned flags))                                           \
  F(stream_destroy, cuStreamDestroy_v2, (Stream stream))                                                        \
  F(stream_synchronize, cuStreamSynchronize, (Stream stream))                                                   \
  F(stream_wait, cuStreamWaitEvent, (Stream stream, DriverEvent event, unsigned flags))                         \
  F(event_create, cuEventCreate, (DriverEvent * event, unsigned flags))                                         \
  F(event_destroy, cuEventDestroy_v2, (DriverEvent event))                                                      \
  F(event_record, cuEventRecord, (DriverEvent event, Stream stream))                                            \
  F(event_elapsed, cuEventElapsedTime, (float* milliseconds, DriverEvent from, DriverEvent to))                 \
  F(error_name, cuGetErrorName, (Result result, const char** name))

struct Api {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration
#define MILLRACE_POINTER(function, symbol, parameters) Result(*function) parameters = nullptr;
  MILLRACE_CUDA_FUNCTIONS(MILLRACE_POINTER)
#undef MILLRACE_POINTER
  // Available since CUDA 11.4; null before.
  Result (*device_uuid)(Uuid* uuid, int device) = nullptr;
};

// Returns the driver, initialised with cuInit; opens each library once. Null, with the reason, if there is no driver.
const Api* find_api(const std::string& library, std::string& reason);

// Returns "CUDA_ERROR_OUT_OF_MEMORY (2)", or "error 2" if the driver has no name for it.
std::string name_of(const Api& api, Result result);

}  // namespace millrace::cuda
