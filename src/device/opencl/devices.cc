#include "src/device/opencl/devices.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>

#include "src/device/opencl/api.h"

namespace millrace {
namespace opencl {
namespace {

struct Found {
  Api api;
  std::string reason;
};

Found open_library() {
  constexpr const char* kLibrary = "libOpenCL.so.1";
  Found out;
  // The library is never closed: its drivers start threads.
  void* handle = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    out.reason = fmt::format("no OpenCL: {} cannot be opened", kLibrary);
    return out;
  }
  const auto find = [&]<typename F>(F*& function, const char* name) {
    function = reinterpret_cast<F*>(::dlsym(handle, name));
    if (function == nullptr && out.reason.empty()) {
      out.reason = fmt::format("{} lacks the function {}: it is older than OpenCL 1.2", kLibrary, name);
    }
  };
#define MILLRACE_FIND(function, symbol, result, parameters) find(out.api.function, #symbol);
  MILLRACE_OPENCL_FUNCTIONS(MILLRACE_FIND)
#undef MILLRACE_FIND
  return out;
}

}  // namespace

const Api* find_api(std::string& reason) {
  // The object is never freed: allocations may outlive all other objects.
  static const auto& found = *new Found(open_library());
  reason = found.reason;
  return found.reason.empty() ? &found.api : nullptr;
}

}  // namespace opencl

namespace {

// CL_DEVICE_* queries of a device, CL_PLATFORM_NAME of a platform.
constexpr std::uint32_t kType = 0x1000, kMemory = 0x101F, kName = 0x102B, kDriver = 0x102D, kPlatformName = 0x0902;
constexpr opencl::Flags kAll = 0xFFFFFFFF, kCpu = 2;

std::string text_of(const opencl::Api& api, opencl::DeviceId device, std::uint32_t what) {
  char text[256] = {};
  if (api.device_info(device, what, sizeof(text) - 1, text, nullptr) != 0) return "";
  return text;
}

}  // namespace

OpenClDevices find_opencl_devices() {
  OpenClDevices out;
  const opencl::Api* api = opencl::find_api(out.reason);
  if (api == nullptr) return out;
  opencl::Platform platforms[16] = {};
  std::uint32_t count = 0;
  if (api->platforms(16, platforms, &count) != 0 || count == 0) {
    out.reason = "OpenCL is installed, but no driver for it was found";
    return out;
  }
  for (std::uint32_t p = 0; p < std::min(count, 16U); ++p) {
    char platform[256] = {};
    api->platform_info(platforms[p], kPlatformName, sizeof(platform) - 1, platform, nullptr);
    opencl::DeviceId devices[16] = {};
    std::uint32_t here = 0;
    if (api->devices(platforms[p], kAll, 16, devices, &here) != 0) continue;
    for (std::uint32_t d = 0; d < std::min(here, 16U); ++d) {
      OpenClDevice device{text_of(*api, devices[d], kName),
                          platform,
                          text_of(*api, devices[d], kDriver),
                          {},
                          false,
                          reinterpret_cast<std::uintptr_t>(devices[d]),
                          reinterpret_cast<std::uintptr_t>(platforms[p])};
      opencl::Flags type = 0;
      api->device_info(devices[d], kMemory, sizeof(device.memory.count), &device.memory.count, nullptr);
      api->device_info(devices[d], kType, sizeof(type), &type, nullptr);
      device.is_cpu = (type & kCpu) != 0;
      out.devices.push_back(std::move(device));
    }
  }
  if (out.devices.empty()) out.reason = "the OpenCL drivers list no device";
  return out;
}

}  // namespace millrace
