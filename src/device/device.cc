#include "src/device/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "src/base/error.h"
#include "src/device/cuda/driver.h"

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
                  "use auto, cpu, cuda or cuda:N");
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

std::vector<Device> of_kind(DeviceKind kind, std::string& reason) {
  std::vector<Device> out;
  if (kind == DeviceKind::opencl) reason = "this build has no OpenCL version of any operation";
  if (kind != DeviceKind::cuda) return out;
  const CudaDriver driver = find_cuda_driver();
  reason = driver.reason;
  for (std::size_t i = 0; i < driver.devices.size(); ++i) {
    out.push_back({kind, static_cast<int>(i), driver.devices[i].name, driver.devices[i].memory});
  }
  return out;
}

}  // namespace

std::string name_of(const Device& device) {
  return device.kind == DeviceKind::cpu ? "cpu" : fmt::format("{}:{}", word_of(device.kind), device.index);
}

std::vector<Device> choose_devices(const std::string& wish, std::span<const DeviceKind> has) {
  std::vector<Device> out;
  std::string reason;
  if (wish == "auto") {
    for (const DeviceKind kind : has) {
      for (Device& device : of_kind(kind, reason)) out.push_back(std::move(device));
    }
  } else if (const Wish wanted = parse(wish); wanted.kind != DeviceKind::cpu) {
    const auto unavailable = [&](const std::string& why) {
      throw Failure(ErrorCode::unavailable, why, "--device " + wish,
                    "use --device auto; millrace doctor shows what is here");
    };
    std::vector<Device> here = of_kind(wanted.kind, reason);
    if (here.empty()) unavailable(reason);
    if (std::find(has.begin(), has.end(), wanted.kind) == has.end()) unavailable("this job has no GPU version yet");
    if (wanted.index && static_cast<std::size_t>(*wanted.index) >= here.size()) {
      unavailable(fmt::format("there are {} of this kind, from 0 on", here.size()));
    }
    out.push_back(std::move(here[static_cast<std::size_t>(wanted.index.value_or(0))]));
  }
  out.push_back({});
  return out;
}

}  // namespace millrace
