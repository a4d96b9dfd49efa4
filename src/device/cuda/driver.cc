#include "src/device/cuda/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "src/device/cuda/api.h"

namespace millrace {
namespace {

// CU_DEVICE_ATTRIBUTE_CLOCK_RATE, _MULTIPROCESSOR_COUNT, _COMPUTE_CAPABILITY_MAJOR and _MINOR.
constexpr int kClock = 13, kMultiprocessors = 16, kComputeMajor = 75, kComputeMinor = 76;

std::string uuid_text(const cuda::Uuid& uuid) {
  std::string out = "GPU-";
  for (int at = 0; at < 16; ++at) {
    if (at == 4 || at == 6 || at == 8 || at == 10) out += '-';
    out += fmt::format("{:02x}", uuid.bytes[at]);
  }
  return out;
}

// Returns the dotted number in "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 ...".
std::string build_in(const std::string& file) {
  std::ifstream in(file);
  std::string line, word;
  std::getline(in, line);
  for (std::istringstream words(line); words >> word;) {
    const bool number = word.find_first_not_of("0123456789.") == std::string::npos;
    if (number && word.find('.') != std::string::npos && word.size() < 32) return word;
  }
  return "";
}

// Identifies the library by size and time, so that a replaced library is noticed even without a build number.
std::string build_of_library(const void* function) {
  Dl_info library{};
  struct stat file {};
  if (::dladdr(function, &library) == 0 || ::stat(library.dli_fname, &file) != 0) return "";
  return fmt::format("{} bytes of {}", file.st_size, file.st_mtime);
}

}  // namespace

CudaDriver find_cuda_driver(const std::string& library, const std::string& build_file) {
  CudaDriver driver;
  const cuda::Api* api = cuda::find_api(library, driver.reason);
  if (api == nullptr) return driver;
  api->driver_version(&driver.version);
  driver.build = build_in(build_file);
  if (driver.build.empty()) driver.build = build_of_library(reinterpret_cast<const void*>(api->driver_version));
  int count = 0;
  if (api->device_count(&count) != 0 || count == 0) {
    driver.reason = "the NVIDIA driver lists no device";
    return driver;
  }
  for (int i = 0; i < count; ++i) {
    int device = 0;
    CudaDevice found;
    char name[256] = {};
    std::size_t bytes = 0;
    cuda::Uuid uuid{};
    if (api->device_get(&device, i) != 0) continue;
    api->device_name(name, sizeof(name) - 1, device);
    api->device_memory(&bytes, device);
    api->device_attribute(&found.major, kComputeMajor, device);
    api->device_attribute(&found.minor, kComputeMinor, device);
    api->device_attribute(&found.multiprocessors, kMultiprocessors, device);
    api->device_attribute(&found.clock_khz, kClock, device);
    if (api->device_uuid != nullptr && api->device_uuid(&uuid, device) == 0) found.uuid = uuid_text(uuid);
    found.name = name;
    found.memory = {bytes};
    found.ordinal = i;
    driver.devices.push_back(std::move(found));
  }
  if (driver.devices.empty()) driver.reason = "no device of the NVIDIA driver responds";
  return driver;
}

}  // namespace millrace
