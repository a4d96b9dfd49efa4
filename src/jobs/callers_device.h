// Input: what a caller of the library says of devices, and where an array of his lies.
// Output: the device that works on it.
// Never: opens one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "include/millrace/array.h"
#include "src/device/accelerator.h"

namespace millrace {

class CallersDevice {
 public:
  // Members of the library's options. Failure(usage), Failure(unavailable) where there is no such device: one that is
  // named is there.
  CallersDevice(const std::string& device, const std::string& verify_device, std::uint64_t device_memory);

  // By name, and not the CPU.
  const std::optional<Device>& named() const { return named_; }
  const AcceleratorOptions& options() const { return options_; }
  // The device that an array is on, whether kernels can run on it or not: the CPU's results can be copied. Its number
  // is CUDA's own. `name` is the array's, `work` what is done ("charts are drawn"), for messages. Failure(usage),
  // Failure(unavailable).
  Device holding(std::int32_t ordinal, const char* name, const char* work) const;

 private:
  const std::string device_;
  AcceleratorOptions options_;
  std::optional<Device> named_;
};

// Why some or all is the CPU's; empty where nothing is.
std::string why_by_cpu(const Accelerator& accelerator);

}  // namespace millrace
