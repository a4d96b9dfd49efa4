// Enters: nothing: devices/attested.json as it was when this was built.
// Leaves: which kernels gave the CPU's answers on which hardware.
// Never: takes a machine's own word: entries are written by the kit (docs/gpu.md) and come with the program.
#pragma once

#include <span>
#include <string_view>

namespace millrace {

struct Attestation {
  std::string_view source;      // "hamming"
  std::string_view hash;        // KernelSource::hash
  std::string_view capability;  // the compute capability, "9.0"
  std::string_view device, driver, date;
};

std::span<const Attestation> attestations();

// For these bytes and this capability alone.
bool is_attested(std::string_view hash, std::string_view capability);

}  // namespace millrace
