#include "src/device/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "src/base/error.h"
#include "src/device/attested.h"
#include "src/device/cuda/driver.h"
#include "src/device/opencl/devices.h"

namespace millrace {
namespace {

struct Wish {
  DeviceKind kind = DeviceKind::cpu;
  std::optional<int> index;
};

const char* word_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::cuda:
      return "cuda";
    case DeviceKind::opencl:
      return "opencl";
    case DeviceKind::cpu:
      break;
  }
  return "cpu";
}

Wish parse(const std::string& text) {
  const auto refuse = [&]() -> Wish {
    throw Failure(ErrorCode::usage, fmt::format("'{}' is not a device", text), "--device",
                  "use auto, cpu, cuda, cuda:N, opencl or opencl:N");
  };
  if (text == "cpu") return {};
  for (const DeviceKind kind : {DeviceKind::cuda, DeviceKind::opencl}) {
    const std::string word = word_of(kind);
    if (text == word) return {kind, {}};
    if (!text.starts_with(word + ":")) continue;
    int index = 0;
    const char *begin = text.data() + word.size() + 1, *end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(begin, end, index);
    if (begin == end || error != std::errc() || stopped != end || index < 0) return refuse();
    return {kind, index};
  }
  return refuse();
}

// The kernels' PTX is for Turing and what came after.
constexpr int kLeastCapability = 75;

std::vector<Device> cuda_devices(std::string& reason) {
  std::vector<Device> out;
  const CudaDriver driver = find_cuda_driver();
  reason = driver.reason;
  for (std::size_t i = 0; i < driver.devices.size(); ++i) {
    const CudaDevice& found = driver.devices[i];
    Device device{DeviceKind::cuda, static_cast<int>(i), found.name, found.memory, found.uuid, {}, {}};
    device.capability = fmt::format("{}.{}", found.major, found.minor);
    if (10 * found.major + found.minor < kLeastCapability) {
      device.reason = fmt::format("its compute capability {} is below 7.5, which kernels are compiled for", device.capability);
    }
    out.push_back(std::move(device));
  }
  return out;
}

std::vector<Device> opencl_devices(std::string& reason) {
  std::vector<Device> out;
  const OpenClDevices found = find_opencl_devices();
  reason = found.reason;
  for (std::size_t i = 0; i < found.devices.size(); ++i) {
    const OpenClDevice& device = found.devices[i];
    out.push_back({DeviceKind::opencl, static_cast<int>(i), device.name, device.memory, {}, device.driver, {}});
  }
  return out;
}

}  // namespace

std::string name_of(const Device& device) {
  return device.kind == DeviceKind::cpu ? "cpu" : fmt::format("{}:{}", word_of(device.kind), device.index);
}

std::vector<Device> list_devices(DeviceKind kind, std::string& reason) {
  switch (kind) {
    case DeviceKind::cuda:
      return cuda_devices(reason);
    case DeviceKind::opencl:
      return opencl_devices(reason);
    case DeviceKind::cpu:
      break;
  }
  return {Device{}};
}

std::vector<Device> choose_devices(const std::string& wish, std::span<const DeviceKind> has) {
  std::vector<Device> out;
  std::string reason;
  if (wish == "auto") {
    // OpenCL's drivers are too many for anybody to attest.
    const bool any = !attestations().empty() && std::find(has.begin(), has.end(), DeviceKind::cuda) != has.end();
    if (any) {
      for (Device& device : cuda_devices(reason)) {
        if (device.reason.empty() && is_attested(device.capability)) out.push_back(std::move(device));
      }
    }
  } else if (const Wish wanted = parse(wish); wanted.kind != DeviceKind::cpu) {
    const auto unavailable = [&](const std::string& why) {
      throw Failure(ErrorCode::unavailable, why, "--device " + wish,
                    "use --device auto; millrace doctor shows what is here");
    };
    std::vector<Device> here = list_devices(wanted.kind, reason);
    if (here.empty()) unavailable(reason);
    if (std::find(has.begin(), has.end(), wanted.kind) == has.end()) unavailable("this job has no GPU version yet");
    if (wanted.index && static_cast<std::size_t>(*wanted.index) >= here.size()) {
      unavailable(fmt::format("there are {} of this kind, from 0 on", here.size()));
    }
    Device& device = here[static_cast<std::size_t>(wanted.index.value_or(0))];
    if (!device.reason.empty()) unavailable(device.reason);
    out.push_back(std::move(device));
  }
  out.push_back({});
  return out;
}

}  // namespace millrace
