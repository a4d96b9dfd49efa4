// Input: the devices of this machine, and the simulated drivers built with the tests.
// Output: every device that can run kernels here. These are the simulated NVIDIA driver in each order of threads, every
// OpenCL driver, and Oclgrind, which detects races, if it is installed. On a machine with a GPU they are the devices
// listed in MILLRACE_TEST_DEVICES.
// Never: replaces one device by another: a missing one is reported with the reason.
#pragma once

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "src/base/text.h"
#include "src/device/accelerator.h"
#include "src/device/device.h"
#include "tests/support/gpu/fake_cuda.h"

namespace millrace {

struct FakeCudaOptions {
  std::string order = "forward", fail, memory;
};

// The simulated driver in this process, reset by the constructor.
class FakeCuda {
 public:
  explicit FakeCuda(const FakeCudaOptions& wish = {}) {
    handle_ = ::dlopen(kFakeCudaPath, RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) std::abort();
    ::setenv("FAKE_CUDA_ORDER", wish.order.c_str(), 1);
    ::setenv("FAKE_CUDA_FAIL", wish.fail.c_str(), 1);
    if (wish.memory.empty()) {
      ::unsetenv("FAKE_CUDA_MEMORY");
    } else {
      ::setenv("FAKE_CUDA_MEMORY", wish.memory.c_str(), 1);
    }
    symbol<fake_cuda_reset_t>("fake_cuda_reset")();
  }
  std::string violations() const { return symbol<fake_cuda_violations_t>("fake_cuda_violations")(); }
  std::string summary() const { return symbol<fake_cuda_summary_t>("fake_cuda_summary")(); }
  // Simulates another library's copy on the default stream; `from` must live until it is done. Returns the driver's
  // code, 0 for success.
  int upload_on_default_stream(std::uint64_t to, const void* from, std::size_t bytes) const {
    using Attribute = int (*)(void*, int, unsigned long long);
    using Set = int (*)(void*);
    using Copy = int (*)(unsigned long long, const void*, std::size_t, void*);
    void* context = nullptr;
    symbol<Attribute>("cuPointerGetAttribute")(&context, 1, to);
    symbol<Set>("cuCtxSetCurrent")(context);
    const int result = symbol<Copy>("cuMemcpyHtoDAsync_v2")(to, from, bytes, nullptr);
    symbol<Set>("cuCtxSetCurrent")(nullptr);
    return result;
  }
  // Returns how often a call was made, by its name in FAKE_CUDA_FAIL.
  std::uint64_t calls(const std::string& call) const { return count("call_" + call); }
  // Returns a count of the driver: "live" allocations, "streams", "events" or "contexts".
  std::uint64_t count(const std::string& what) const {
    const std::string text = summary();
    const std::size_t at = text.find(what + " ");
    return std::strtoull(text.c_str() + at + what.size() + 1, nullptr, 10);
  }

 private:
  template <typename F>
  F symbol(const char* name) const {
    return reinterpret_cast<F>(::dlsym(handle_, name));
  }
  void* handle_ = nullptr;
};

struct TestDevice {
  Device device;
  std::string name;
  bool small_cases = false;  // true for a device that is about 1000 times slower than the others
  std::string order;         // order of threads of the simulated driver; empty for other devices

  bool is_simulated() const { return !order.empty(); }
};

namespace for_test {

inline const char* const kOclgrind = "/usr/lib/oclgrind/liboclgrind-rt-icd.so";

inline std::string oclgrind_log() {
  static const std::string path =
      fmt::format("{}/millrace-oclgrind-{}.log", std::filesystem::temp_directory_path().string(), ::getpid());
  return path;
}

// Registers Oclgrind. Must be called before the first use of the OpenCL library.
inline void add_oclgrind() {
  if (!std::filesystem::exists(kOclgrind)) return;
  // A folder with driver names replaces the system's folder.
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("millrace-opencl-{}", ::getpid());
  std::error_code error;
  std::filesystem::create_directories(folder);
  for (const auto& entry : std::filesystem::directory_iterator("/etc/OpenCL/vendors", error)) {
    std::filesystem::copy_file(entry.path(), folder / entry.path().filename(), error);
  }
  std::ofstream(folder / "z-oclgrind.icd") << kOclgrind << "\n";
  ::setenv("OCL_ICD_VENDORS", folder.c_str(), 0);
  ::setenv("OCLGRIND_DATA_RACES", "1", 1);
  ::setenv("OCLGRIND_CHECK_API", "1", 1);
  ::setenv("OCLGRIND_LOG", oclgrind_log().c_str(), 1);
}

}  // namespace for_test

// Finds the test devices. Every suite needs them, so devices_for_test() caches the list.
inline std::vector<TestDevice> find_devices_for_test() {
  std::vector<TestDevice> out;
  std::string reason;
  if (const char* only = std::getenv("MILLRACE_TEST_DEVICES"); only != nullptr) {
    for (const std::string& name : split(only, ',')) {
      out.push_back({choose_device({.device = name}, kGpuKinds).device.value(), name, false, ""});
    }
    return out;
  }
  const FakeCuda fake;
  const std::vector<Device> cuda = list_devices(DeviceKind::cuda, reason);
  for (const char* order : {"forward", "reverse", "random"}) {
    out.push_back({cuda.at(0), std::string("simulated CUDA, threads ") + order, false, order});
  }
#ifdef MILLRACE_SANITIZED
  fmt::print(stderr, "left out under a sanitizer: OpenCL drivers, whose code is not built with it\n");
#else
  for_test::add_oclgrind();
  const std::vector<Device> opencl = list_devices(DeviceKind::opencl, reason);
  for (Device device : opencl) {
    device.assume_exact = device.name.find("Oclgrind") != std::string::npos;
    out.push_back({device, fmt::format("OpenCL {}: {}", device.index, device.name),
                   device.name.find("Oclgrind") != std::string::npos, ""});
  }
  if (opencl.empty()) fmt::print(stderr, "left out: OpenCL ({})\n", reason);
#endif
  return out;
}

inline void PrintTo(const TestDevice& device, std::ostream* out) { *out << device.name; }

// Returns the device's name with only characters that a test name may have.
inline std::string device_test_name(const testing::TestParamInfo<TestDevice>& info) {
  std::string name;
  for (const char c : info.param.name) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

inline const std::vector<TestDevice>& devices_for_test() {
  static const std::vector<TestDevice> all = find_devices_for_test();
  return all;
}

// Returns what Oclgrind has logged since the last call, one line per finding.
inline std::string oclgrind_findings() {
  std::ifstream in(for_test::oclgrind_log());
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::ofstream emptied(for_test::oclgrind_log(), std::ios::trunc);
  return text;
}

}  // namespace millrace
