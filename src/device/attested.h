// Input: devices/attested.json as it was when this was built; and what was attested on this machine.
// Output: which kernels gave the CPU's answers on which hardware.
// Never: takes a machine's word for another one: what comes with the program is written by the kit (docs/gpu.md).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "src/device/device.h"

namespace millrace {

struct Attestation {
  std::string_view source;      // "hamming"
  std::string_view hash;        // KernelSource::hash
  std::string_view capability;  // the compute capability, "9.0"
  std::string_view device, driver, date;
};

std::span<const Attestation> attestations();

// By `millrace doctor --attest`, for one NVIDIA card and its driver.
struct LocalAttestation {
  std::string uuid;
  std::string driver;  // Device::driver
  std::string hash;    // KernelSource::hash
};

// These bytes: with the program, for every card of this compute capability; or here, for this card and its driver.
bool is_attested(std::string_view hash, const Device& device, std::span<const LocalAttestation> here = {});

}  // namespace millrace
