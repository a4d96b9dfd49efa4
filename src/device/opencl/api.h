// Input: the library that finds OpenCL's drivers (the ICD loader).
// Output: its functions as pointers, with the signatures of OpenCL 1.2.
// Never: includes or links anything of OpenCL; is used outside of this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace millrace::opencl {

struct Platform_;
struct Device_;
struct Context_;
struct Queue_;
struct Memory_;
struct Program_;
struct Kernel_;
struct Event_;
using Platform = Platform_*;
using DeviceId = Device_*;
using Context = Context_*;
using CommandQueue = Queue_*;
using Memory = Memory_*;
using Program = Program_*;
using Kernel = Kernel_*;
using ClEvent = Event_*;
using Result = std::int32_t;  // 0 is success
using Flags = std::uint64_t;

// Function, symbol, result type, parameters. Source: the OpenCL 1.2 specification.
#define MILLRACE_OPENCL_FUNCTIONS(F)                                                                                 \
  F(platforms, clGetPlatformIDs, Result, (std::uint32_t room, Platform * list, std::uint32_t * count))               \
  F(platform_info, clGetPlatformInfo, Result,                                                                        \
    (Platform platform, std::uint32_t name, std::size_t room, void* value, std::size_t* size))                       \
  F(devices, clGetDeviceIDs, Result,                                                                                 \
    (Platform platform, Flags type, std::uint32_t room, DeviceId * list, std::uint32_t * count))                     \
  F(device_info, clGetDeviceInfo, Result,                                                                            \
    (DeviceId device, std::uint32_t name, std::size_t room, void* value, std::size_t* size))                         \
  F(create_context, clCreateContext, Context,                                                                        \
    (const std::intptr_t* properties, std::uint32_t count, const DeviceId* devices,                                  \
     void (*notify)(const char*, const void*, std::size_t, void*), void* user, Result* result))                      \
  F(release_context, clReleaseContext, Result, (Context context))                                                    \
  F(create_queue, clCreateCommandQueue, CommandQueue,                                                                \
    (Context context, DeviceId device, Flags flags, Result * result))                                                \
  F(release_queue, clReleaseCommandQueue, Result, (CommandQueue queue))                                              \
  F(create_buffer, clCreateBuffer, Memory,                                                                           \
    (Context context, Flags flags, std::size_t bytes, void* host, Result* result))                                   \
  F(release_memory, clReleaseMemObject, Result, (Memory memory))                                                     \
  F(write, clEnqueueWriteBuffer, Result,                                                                             \
    (CommandQueue queue, Memory memory, std::uint32_t blocking, std::size_t offset, std::size_t bytes,               \
     const void* from, std::uint32_t waits, const ClEvent* events, ClEvent* event))                                  \
  F(read, clEnqueueReadBuffer, Result,                                                                               \
    (CommandQueue queue, Memory memory, std::uint32_t blocking, std::size_t offset, std::size_t bytes, void* to,     \
     std::uint32_t waits, const ClEvent* events, ClEvent* event))                                                    \
  F(fill, clEnqueueFillBuffer, Result,                                                                               \
    (CommandQueue queue, Memory memory, const void* pattern, std::size_t pattern_bytes, std::size_t offset,          \
     std::size_t bytes, std::uint32_t waits, const ClEvent* events, ClEvent* event))                                 \
  F(create_program, clCreateProgramWithSource, Program,                                                              \
    (Context context, std::uint32_t count, const char** texts, const std::size_t* lengths, Result* result))          \
  F(release_program, clReleaseProgram, Result, (Program program))                                                    \
  F(build, clBuildProgram, Result,                                                                                   \
    (Program program, std::uint32_t count, const DeviceId* devices, const char* options,                             \
     void (*notify)(Program, void*), void* user))                                                                    \
  F(build_info, clGetProgramBuildInfo, Result,                                                                       \
    (Program program, DeviceId device, std::uint32_t name, std::size_t room, void* value, std::size_t* size))        \
  F(create_kernel, clCreateKernel, Kernel, (Program program, const char* name, Result* result))                      \
  F(release_kernel, clReleaseKernel, Result, (Kernel kernel))                                                        \
  F(set_argument, clSetKernelArg, Result, (Kernel kernel, std::uint32_t at, std::size_t bytes, const void* value))   \
  F(launch, clEnqueueNDRangeKernel, Result,                                                                          \
    (CommandQueue queue, Kernel kernel, std::uint32_t dimensions, const std::size_t* offset, const std::size_t* all, \
     const std::size_t* group, std::uint32_t waits, const ClEvent* events, ClEvent* event))                          \
  F(marker, clEnqueueMarkerWithWaitList, Result,                                                                     \
    (CommandQueue queue, std::uint32_t waits, const ClEvent* events, ClEvent* event))                                \
  F(barrier, clEnqueueBarrierWithWaitList, Result,                                                                   \
    (CommandQueue queue, std::uint32_t waits, const ClEvent* events, ClEvent* event))                                \
  F(flush, clFlush, Result, (CommandQueue queue))                                                                    \
  F(finish, clFinish, Result, (CommandQueue queue))                                                                  \
  F(profiling, clGetEventProfilingInfo, Result,                                                                      \
    (ClEvent event, std::uint32_t name, std::size_t room, void* value, std::size_t* size))                           \
  F(release_event, clReleaseEvent, Result, (ClEvent event))

struct Api {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration
#define MILLRACE_POINTER(function, symbol, result, parameters) result(*function) parameters = nullptr;
  MILLRACE_OPENCL_FUNCTIONS(MILLRACE_POINTER)
#undef MILLRACE_POINTER
};

// Opens the library once. Null, with the reason, if there is none.
const Api* find_api(std::string& reason);

}  // namespace millrace::opencl
