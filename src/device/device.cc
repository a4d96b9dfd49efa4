#include "src/device/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "src/base/error.h"
#include "src/base/text.h"
#include "src/device/attested.h"
#include "src/device/cuda/driver.h"
#include "src/device/opencl/devices.h"

namespace millrace {
namespace {

struct DeviceSpec {
  DeviceKind kind = DeviceKind::cpu;
  std::optional<int> index;
};

const char* kind_name(DeviceKind kind) {
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

DeviceSpec parse(const std::string& text) {
  const auto refuse = [&]() -> DeviceSpec {
    throw Failure(ErrorCode::usage, fmt::format("'{}' is not a device", text), "--device",
                  "use auto, cpu, cuda, cuda:N, opencl or opencl:N");
  };
  if (text == "cpu") return {};
  for (const DeviceKind kind : kGpuKinds) {
    const std::string word = kind_name(kind);
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

// Lowest compute capability, times 10: the kernels' PTX requires Turing or newer.
constexpr int kMinCapability = 75;

std::vector<Device> cuda_devices(std::string& reason) {
  std::vector<Device> out;
  const CudaDriver driver = find_cuda_driver();
  reason = driver.reason;
  for (std::size_t i = 0; i < driver.devices.size(); ++i) {
    const CudaDevice& found = driver.devices[i];
    Device device;
    device.kind = DeviceKind::cuda;
    device.index = static_cast<int>(i);
    device.ordinal = found.ordinal;
    device.name = found.name;
    device.memory = found.memory;
    device.uuid = found.uuid;
    device.capability = fmt::format("{}.{}", found.major, found.minor);
    device.driver = fmt::format("{}.{}", driver.version / 1000, driver.version % 1000 / 10);
    if (!driver.build.empty()) device.driver += fmt::format(" ({})", driver.build);
    if (10 * found.major + found.minor < kMinCapability) {
      device.reason =
          fmt::format("its compute capability {} is not supported; at least 7.5 is required", device.capability);
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
    const OpenClDevice& one = found.devices[i];
    Device device;
    device.kind = DeviceKind::opencl;
    device.index = static_cast<int>(i);
    device.name = one.name;
    device.memory = one.memory;
    device.driver = one.driver;
    device.is_cpu = one.is_cpu;
    out.push_back(std::move(device));
  }
  return out;
}

}  // namespace

std::string name_of(const Device& device) {
  return device.kind == DeviceKind::cpu ? "cpu" : fmt::format("{}:{}", kind_name(device.kind), device.index);
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

namespace {

std::optional<Device> attested_device(std::span<const DeviceKind> has, std::span<const std::string_view> kernels,
                                      std::span<const LocalAttestation> here) {
  // No driver is opened without an attestation. OpenCL devices are never attested, as there are too many kinds of them.
  const bool none = attestations().empty() && here.empty();
  if (none || std::find(has.begin(), has.end(), DeviceKind::cuda) == has.end()) return std::nullopt;
  std::string reason;
  std::optional<Device> best;
  std::ptrdiff_t most = 0;
  for (Device& device : cuda_devices(reason)) {
    const auto attested = std::count_if(kernels.begin(), kernels.end(),
                                        [&](std::string_view hash) { return is_attested(hash, device, here); });
    if (!device.reason.empty() || attested <= most) continue;
    most = attested;
    best = std::move(device);
  }
  return best;
}

// Returns the requested device, or the reason why there is none.
Outcome<Device> find_device(const DeviceSpec& wanted, bool by_name, std::span<const DeviceKind> has) {
  const auto none = [](const std::string& why) { return Error{ErrorCode::unavailable, why, "", ""}; };
  if (std::find(has.begin(), has.end(), wanted.kind) == has.end()) return none("this job cannot use a GPU yet");
  std::string reason;
  std::vector<Device> here = list_devices(wanted.kind, reason);
  if (here.empty()) return none(reason);
  if (wanted.index && static_cast<std::size_t>(*wanted.index) >= here.size()) {
    return none(
        fmt::format("found {} device{} of this kind, numbered from 0", here.size(), here.size() == 1 ? "" : "s"));
  }
  if (wanted.index) {
    Device& device = here[static_cast<std::size_t>(*wanted.index)];
    return device.reason.empty() ? Outcome<Device>(std::move(device)) : none(device.reason);
  }
  for (Device& device : here) {
    if (!by_name && device.is_cpu && device.reason.empty()) {
      device.reason =
          fmt::format("{} is the CPU, not a GPU; choose it with --device {}", name_of(device), name_of(device));
    }
    if (device.reason.empty()) return std::move(device);
  }
  return none(here.front().reason);
}

// Parses the value of --device-order.
std::vector<DeviceKind> kinds_of(const std::string& order) {
  std::vector<DeviceKind> out;
  for (const std::string& word : split(order, ',')) {
    const auto* kind =
        std::find_if(kGpuKinds.begin(), kGpuKinds.end(), [&](DeviceKind k) { return word == kind_name(k); });
    if (kind == kGpuKinds.end()) {
      throw Failure(ErrorCode::usage, fmt::format("'{}' is not a kind of device", escape_unprintable(word)),
                    "--device-order", "use cuda, opencl or both, separated by a comma");
    }
    out.push_back(*kind);
  }
  return out;
}

}  // namespace

ChosenDevice choose_device(const DeviceRequest& wish, std::span<const DeviceKind> has,
                           std::span<const std::string_view> kernels, std::span<const LocalAttestation> here) {
  ChosenDevice out;
  std::vector<DeviceSpec> wanted;
  for (const DeviceKind kind : kinds_of(wish.order)) wanted.push_back({kind, {}});
  const bool by_name = wish.device != "auto";
  std::string option = "--gpu";
  if (by_name) {
    const DeviceSpec named = parse(wish.device);
    if (wish.gpu && *wish.gpu == (named.kind == DeviceKind::cpu)) {
      throw Failure(ErrorCode::usage, fmt::format("it contradicts {}", *wish.gpu ? "--gpu" : "--no-gpu"),
                    "--device " + wish.device, "omit one of them");
    }
    wanted = {named};
    option = "--device " + wish.device;
    if (named.kind == DeviceKind::cpu) return out;
  } else if (wish.gpu == std::optional(false)) {
    return out;
  } else if (!wish.gpu) {
    out.device = attested_device(has, kernels, here);
    return out;
  }
  std::string reasons;
  for (const DeviceSpec& one : wanted) {
    auto found = find_device(one, by_name, has);
    if (found) {
      out.device = std::move(found).value();
      out.asked = true;
      return out;
    }
    if (reasons.find(found.error().what) == std::string::npos) {
      reasons += (reasons.empty() ? "" : "; ") + found.error().what;
    }
  }
  if (!wish.fallback) {
    throw Failure(
        ErrorCode::unavailable, reasons, option,
        "omit it, or add --device-fallback to use the CPU; millrace doctor lists the devices of this machine");
  }
  out.note = fmt::format("{}: {}; the CPU is used instead", option, reasons);
  return out;
}

}  // namespace millrace
