// Enters: what a person wishes to compute on, and what a job can.
// Leaves: the devices to use, the preferred one first and the CPU last.
// Never: loads a vendor's driver for a job that has no use for it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/base/sizes.h"

namespace millrace {

enum class DeviceKind : std::uint8_t { cpu, cuda, opencl };

struct Device {
  DeviceKind kind = DeviceKind::cpu;
  int index = 0;
  std::string name = "CPU";
  Bytes memory;  // of its own; a CPU has none
};

// "cpu", "cuda:0", as --device takes it.
std::string name_of(const Device& device);

// `wish` is auto, cpu, cuda[:N] or opencl[:N]; `has` are the kinds that the job has versions for, besides the CPU.
// Failure(usage) for any other wish, Failure(unavailable) with the reason for a device that is not here or that the job
// cannot use.
std::vector<Device> choose_devices(const std::string& wish, std::span<const DeviceKind> has);

}  // namespace millrace
