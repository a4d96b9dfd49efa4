#include "src/device/cuda/api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <map>

#include "src/base/mutex.h"

namespace millrace::cuda {
namespace {

struct Found {
  Api api;
  std::string reason;
};

Found open_library(const std::string& library) {
  Found out;
  // The library is never closed: unloading a driver that has started threads is not safe.
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    out.reason = fmt::format("no NVIDIA driver: {} cannot be opened", library);
    return out;
  }
  const auto find = [&]<typename F>(F*& function, const char* name) {
    function = reinterpret_cast<F*>(::dlsym(handle, name));
    if (function == nullptr && out.reason.empty()) {
      out.reason =
          fmt::format("{} lacks the function {}: it is not an NVIDIA driver, or is older than CUDA 4", library, name);
    }
  };
#define MILLRACE_FIND(function, symbol, parameters) find(out.api.function, #symbol);
  MILLRACE_CUDA_FUNCTIONS(MILLRACE_FIND)
#undef MILLRACE_FIND
  if (!out.reason.empty()) return out;
  out.api.device_uuid = reinterpret_cast<Result (*)(Uuid*, int)>(::dlsym(handle, "cuDeviceGetUuid_v2"));
  return out;
}

}  // namespace

const Api* find_api(const std::string& library, std::string& reason) {
  static Mutex mutex;
  // The map is never freed: allocations and queues may outlive all other objects.
  static auto& libraries = *new std::map<std::string, Found>;
  const MutexLock lock(mutex);
  const auto known = libraries.find(library);
  const Found& found = known != libraries.end() ? known->second : (libraries[library] = open_library(library));
  reason = found.reason;
  if (!reason.empty()) return nullptr;
  if (const Result code = found.api.init(0); code != 0) {
    reason = fmt::format("the NVIDIA driver does not start (cuInit returned {})", code);
    return nullptr;
  }
  return &found.api;
}

std::string name_of(const Api& api, Result result) {
  const char* name = nullptr;
  if (api.error_name(result, &name) != 0 || name == nullptr) return fmt::format("error {}", result);
  return fmt::format("{} ({})", name, result);
}

}  // namespace millrace::cuda
