// Input: the device that a user wants, and the kinds of devices that a job supports.
// Output: the device to use besides the CPU, or the reason why there is none.
// Never: loads a vendor's driver for a job that cannot use it.
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
// Kinds of devices other than the CPU.
inline constexpr std::array kGpuKinds = {DeviceKind::cuda, DeviceKind::opencl};

struct Device {
  DeviceKind kind = DeviceKind::cpu;
  int index = 0;
  int ordinal = 0;  // index in the driver's own numbering, which includes unusable devices
  std::string name = "CPU";
  Bytes memory = {};            // own memory; a CPU has none
  std::string uuid = {};        // "GPU-8f5a...": the same in every process; empty if the driver does not provide it
  std::string capability = {};  // for CUDA "9.0"; empty for OpenCL
  std::string driver = {};      // version: for CUDA "12.4", or "12.4 (550.54.14)" if the system provides it
  bool assume_exact = false;    // for tests: trusts the floating-point numbers of a simulator, whatever it reports
  bool is_cpu = false;          // a processor behind OpenCL: it uses the host's memory, and `gpu` does not choose it
  std::string reason = {};      // why it cannot be used; empty if it can
};

struct LocalAttestation;  // attested.h

// Returns "cpu", "cuda:0", the form that --device takes.
std::string name_of(const Device& device);

// Lists the devices of a kind, usable or not; `reason` says why there are none.
std::vector<Device> list_devices(DeviceKind kind, std::string& reason);

// Device options as given on the command line.
struct DeviceRequest {
  std::string device = "auto";        // auto, cpu, cuda[:N] or opencl[:N]
  std::optional<bool> gpu = {};       // true: any device that is not the CPU; false: none
  std::string order = "cuda,opencl";  // kinds that `gpu` tries, in this order
  bool fallback = false;              // use the CPU in place of a device that cannot be used
};

struct ChosenDevice {
  std::optional<Device> device;  // none: use the CPU
  bool asked = false;            // requested by name or by `gpu`: used whether attested or not
  std::string note;              // why the CPU is used in spite of a request
};

// Chooses a device. `has` lists the kinds that the job supports besides the CPU, `kernels` the hashes of this build's
// kernels, `here` the attestations of this machine. `auto` chooses the device for which most kernels are attested
// (attested.h). It opens no driver if there are no attestations. An invalid wish throws Failure(usage). A device that
// does not exist or that the job cannot use throws Failure(unavailable) with the reason, unless `fallback` is set.
ChosenDevice choose_device(const DeviceRequest& wish, std::span<const DeviceKind> has,
                           std::span<const std::string_view> kernels = {}, std::span<const LocalAttestation> here = {});

}  // namespace millrace
