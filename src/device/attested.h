// Input: devices/attested.json at build time, and attestations made on this machine.
// Output: a decision whether a kernel gave the CPU's answers on some hardware.
// Never: applies an attestation of one machine to another. Attestations built into the program come from the kit
// (docs/gpu.md).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "src/device/device.h"

namespace millrace {

struct Attestation {
  std::string_view source;      // "hamming"
  std::string_view hash;        // KernelSource::hash
  std::string_view capability;  // compute capability, "9.0"
  std::string_view device, driver, date;
};

std::span<const Attestation> attestations();

// An attestation by `millrace doctor --attest`, for one NVIDIA card and its driver.
struct LocalAttestation {
  std::string uuid;
  std::string driver;  // Device::driver
  std::string hash;    // KernelSource::hash
};

// True if kernels of this hash are attested. The program's attestations apply to all cards of a compute capability.
// Those of `here` apply to one card and its driver.
bool is_attested(std::string_view hash, const Device& device, std::span<const LocalAttestation> here = {});

}  // namespace millrace
