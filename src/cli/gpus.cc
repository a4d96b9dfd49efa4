#include "src/cli/gpus.h"

#include <fmt/format.h>

#include "src/base/error.h"

namespace millrace::cli {

std::vector<Device> select_gpus(const std::string& name, std::span<const DeviceKind> kinds,
                                std::vector<std::string>& reasons) {
  if (!name.empty()) {
    DeviceRequest wish;
    wish.device = name;
    // Without another device to fall back to, unlike in a job.
    const ChosenDevice chosen = [&] {
      try {
        return choose_device(wish, kGpuKinds);
      } catch (const Failure& failure) {
        Error error = failure.error();
        error.remedy = "millrace doctor lists the devices of this machine";
        throw Failure(error);
      }
    }();
    if (!chosen.device) {
      throw Failure(ErrorCode::usage, "it is not a GPU", "--device " + name, "name a GPU, such as cuda:0 or opencl:0");
    }
    return {*chosen.device};
  }
  std::vector<Device> out;
  for (const DeviceKind kind : kinds) {
    std::string reason;
    for (Device& device : list_devices(kind, reason)) {
      if (device.reason.empty()) {
        out.push_back(std::move(device));
      } else {
        reasons.push_back(fmt::format("{}: {}", name_of(device), device.reason));
      }
    }
    if (!reason.empty()) reasons.push_back(reason);
  }
  return out;
}

}  // namespace millrace::cli
