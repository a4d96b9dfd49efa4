// Input: what a person wishes to compute on, and what a job can.
// Output: the device to use beside the CPU, if there is one, or the reason why there is none.
// Never: loads a vendor's driver for a job that has no use for it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/sizes.h"

namespace millrace {

enum class DeviceKind : std::uint8_t { cpu, cuda, opencl };
// All but the CPU.
inline constexpr std::array kGpuKinds = {DeviceKind::cuda, DeviceKind::opencl};

struct Device {
  DeviceKind kind = DeviceKind::cpu;
  int index = 0;
  int ordinal = 0;  // as its own driver numbers it, which counts those that cannot be used
  std::string name = "CPU";
  Bytes memory = {};            // of its own; a CPU has none
  std::string uuid = {};        // "GPU-8f5a...": the same in every process; empty where the driver does not tell
  std::string capability = {};  // of CUDA "9.0"; empty for OpenCL
  std::string driver = {};      // its version: of CUDA "12.4", or "12.4 (550.54.14)" where the system tells
  bool assume_exact = false;    // by tests: a simulator's floating numbers are the host's, whatever it says of them
  bool is_cpu = false;          // a processor behind OpenCL: its memory is the host's, and `gpu` does not mean it
  std::string reason = {};      // why it cannot be used; empty where it can
};

struct LocalAttestation;  // attested.h

// "cpu", "cuda:0", as --device takes it.
std::string name_of(const Device& device);

// What is here of a kind, usable or not; `reason` says why there is nothing.
std::vector<Device> list_devices(DeviceKind kind, std::string& reason);

// What a person says of devices.
struct DeviceWish {
  std::string device = "auto";        // auto, cpu, cuda[:N] or opencl[:N]
  std::optional<bool> gpu = {};       // true: any device that is not the CPU; false: none
  std::string order = "cuda,opencl";  // the kinds that `gpu` looks for, the first first
  bool fallback = false;              // the CPU in the place of a device that cannot be used
};

struct ChosenDevice {
  std::optional<Device> device;  // none: the CPU
  bool asked = false;            // by name or by `gpu`: used whether it is attested or not
  std::string note;              // why it is the CPU all the same
};

// `has` are the kinds that the job has versions for, besides the CPU; `kernels` the hashes of this build's; `here` what
// was attested on this machine. `auto` takes the device that most of them are attested for (attested.h), and opens no
// driver where none is for any. Failure(usage) for any other wish, Failure(unavailable) with the reason for a device
// that is not here or that the job cannot use, unless it says what is to be done then.
ChosenDevice choose_device(const DeviceWish& wish, std::span<const DeviceKind> has,
                           std::span<const std::string_view> kernels = {}, std::span<const LocalAttestation> here = {});

}  // namespace millrace
