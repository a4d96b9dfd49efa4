#include "src/device/cuda/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <memory>

namespace millrace {
namespace {

// The few driver calls used, by the names and signatures of the CUDA driver API. 0 is success everywhere.
constexpr int kComputeMajor = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
constexpr int kComputeMinor = 76;

}  // namespace

CudaDriver find_cuda_driver(const std::string& library) {
  CudaDriver driver;
  // Closed again by no one: unloading a driver that has started threads is not safe.
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    driver.reason = fmt::format("no NVIDIA driver: {} cannot be opened", library);
    return driver;
  }
  const auto symbol = [&]<typename F>(F*& function, const char* name) {
    function = reinterpret_cast<F*>(::dlsym(handle, name));
    return function != nullptr;
  };
  int (*init)(unsigned) = nullptr;
  int (*version)(int*) = nullptr;
  int (*count_of)(int*) = nullptr;
  int (*get)(int*, int) = nullptr;
  int (*name_of_device)(char*, int, int) = nullptr;
  int (*memory_of)(std::size_t*, int) = nullptr;
  int (*attribute)(int*, int, int) = nullptr;
  if (!symbol(init, "cuInit") || !symbol(version, "cuDriverGetVersion") || !symbol(count_of, "cuDeviceGetCount") ||
      !symbol(get, "cuDeviceGet") || !symbol(name_of_device, "cuDeviceGetName") ||
      !symbol(memory_of, "cuDeviceTotalMem_v2") || !symbol(attribute, "cuDeviceGetAttribute")) {
    driver.reason = fmt::format("{} lacks functions that every driver since CUDA 4 has", library);
    return driver;
  }
  if (const int code = init(0); code != 0) {
    driver.reason = fmt::format("the NVIDIA driver does not start (cuInit gave {})", code);
    return driver;
  }
  version(&driver.version);
  int count = 0;
  if (count_of(&count) != 0 || count == 0) {
    driver.reason = "the NVIDIA driver lists no device";
    return driver;
  }
  for (int i = 0; i < count; ++i) {
    int device = 0;
    CudaDevice found;
    char name[256] = {};
    std::size_t bytes = 0;
    if (get(&device, i) != 0) continue;
    name_of_device(name, sizeof(name) - 1, device);
    memory_of(&bytes, device);
    attribute(&found.major, kComputeMajor, device);
    attribute(&found.minor, kComputeMinor, device);
    found.name = name;
    found.memory = {bytes};
    driver.devices.push_back(std::move(found));
  }
  if (driver.devices.empty()) driver.reason = "no listed device answers";
  return driver;
}

}  // namespace millrace
