#include "src/jobs/callers_device.h"

#include <fmt/format.h>

#include <utility>

#include "src/base/text.h"
#include "src/jobs/doctor/attested_file.h"

namespace millrace {
namespace {

VerifyMode verify_of(const std::string& text) {
  for (const Choice<VerifyMode>& choice : choices_of(VerifyMode{})) {
    if (text == choice.name) return choice.value;
  }
  throw Failure(ErrorCode::usage, fmt::format("'{}' is not one of all, sample, none", escape_unprintable(text)),
                "verify_device");
}

}  // namespace

CallersDevice::CallersDevice(const std::string& device, const std::string& verify_device, std::uint64_t device_memory)
    : device_(device) {
  options_.verify = verify_of(verify_device);
  options_.memory = {device_memory};
  options_.asked = device != "auto";
  if (device == "auto") {
    options_.attested_here = doctor::attested_here();
    options_.on_fault = doctor::revoke_attestations;
    return;
  }
  try {
    named_ = choose_device({.device = device}, kGpuKinds).device;
  } catch (const Failure& failure) {
    throw Failure(failure.error().code, fmt::format("'{}': {}", escape_unprintable(device), failure.error().what),
                  "device", "use cpu, auto or another device; millrace doctor lists the devices");
  }
}

Device CallersDevice::find_array_device(std::int32_t ordinal, const char* name, const char* work) const {
  if (device_ != "auto") {
    if (named_ && named_->kind == DeviceKind::cuda && named_->ordinal == ordinal) return *named_;
    throw Failure(
        ErrorCode::usage,
        fmt::format("it is on CUDA device {}, and {} on {}", ordinal, work, named_ ? name_of(*named_) : "cpu"), name,
        "copy it to host memory, or set device to auto");
  }
  std::string reason;
  for (Device& found : list_devices(DeviceKind::cuda, reason)) {
    if (found.ordinal == ordinal) return std::move(found);
  }
  throw Failure(
      ErrorCode::unavailable,
      fmt::format("it is on CUDA device {}: {}", ordinal, reason.empty() ? "no such device was found" : reason), name,
      "pass an array in host memory");
}

std::string explain_cpu_use(const Accelerator& accelerator) {
  return accelerator.is_excluded() ? accelerator.reason() : accelerator.fallback_reason();
}

}  // namespace millrace
