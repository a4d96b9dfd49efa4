// Input: what was tried on devices of this machine.
// Output: the kernels that were right, in the data folder of the person who tried them, and back from there.
// Never: believes a file that somebody else could have written: what it says is used without being asked for.
#pragma once

#include <string>
#include <vector>

#include "src/device/attested.h"
#include "src/jobs/doctor/attest.h"

namespace millrace::doctor {

struct TriedDevice {
  Device device;
  std::vector<Trial> trials;
};

// The hash that is kept is of the PTX: text for OpenCL drivers has none. And a card is known by its UUID alone.
inline bool can_be_attested(const Device& device) { return device.kind == DeviceKind::cuda && !device.uuid.empty(); }

// Failure(usage) where no home folder is known.
std::string attested_path();
// In the place of what was kept of the same device: what is not right any more is not attested any more.
void keep(const TriedDevice& tried);
// The device failed: nothing is kept of it any more. A warning where that cannot be done.
void take_back(const Device& device);
// A file that is damaged or not there holds nothing. The reason why one is not believed, since others could have
// written it, goes to `why_not_believed`.
std::vector<LocalAttestation> attested_here(std::string* why_not_believed = nullptr);

}  // namespace millrace::doctor
