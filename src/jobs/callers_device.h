// Input: the device options of a library call, and the CUDA device that holds an array.
// Output: the device that processes the array.
// Never: opens a device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "include/millrace/array.h"
#include "src/device/accelerator.h"

namespace millrace {

class CallersDevice {
 public:
  // Takes members of the library's options. Throws Failure(usage) for an invalid value, and Failure(unavailable) if the
  // named device does not exist.
  CallersDevice(const std::string& device, const std::string& verify_device, std::uint64_t device_memory);

  // Device that was named; empty for "auto" and for the CPU.
  const std::optional<Device>& named() const { return named_; }
  const AcceleratorOptions& options() const { return options_; }
  // Returns the device that holds an array, even if no kernels can run on it: results of the CPU can be copied to it.
  // `ordinal` is CUDA's own device number. Messages use `name`, the array's name, and `work`, such as "charts are
  // drawn". Throws Failure(usage) or Failure(unavailable).
  Device find_array_device(std::int32_t ordinal, const char* name, const char* work) const;

 private:
  const std::string device_;
  AcceleratorOptions options_;
  std::optional<Device> named_;
};

// Returns the reason why the CPU computed some or all of the results; empty if it computed none.
std::string explain_cpu_use(const Accelerator& accelerator);

}  // namespace millrace
