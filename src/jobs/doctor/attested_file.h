// Input: the results of trials on devices of this machine.
// Output: a file in the user's data folder with the kernels that were right, and the attestations read back from it.
// Never: trusts a file that another user could have written: its content decides which devices are used without being
//   requested.
#pragma once

#include <string>
#include <vector>

#include "src/device/attested.h"
#include "src/jobs/doctor/attest.h"

namespace millrace::doctor {

struct TriedDevice {
  Device device;
  std::vector<KernelTrial> trials;
};

// True for devices whose attestations can be stored. The stored hash is that of the PTX, which OpenCL kernels do not
// have. A device is identified by its UUID alone.
inline bool can_be_attested(const Device& device) { return device.kind == DeviceKind::cuda && !device.uuid.empty(); }

// Throws Failure(usage) if no home folder is known.
std::string attestations_path();
// Replaces the stored attestations of the same device: kernels that are no longer right are no longer attested.
void store_attestations(const TriedDevice& tried);
// Removes all attestations of a device that failed. Logs a warning if they cannot be removed.
void revoke_attestations(const Device& device);
// Returns the stored attestations; none if the file is damaged or missing. If the file is not trusted because others
// could have written it, `why_not_trusted` gets the reason.
std::vector<LocalAttestation> attested_here(std::string* why_not_trusted = nullptr);

}  // namespace millrace::doctor
