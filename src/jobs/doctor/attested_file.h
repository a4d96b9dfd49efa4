// Enters: what was tried on devices of this machine.
// Leaves: the kernels that were right, in the data folder of the person who tried them, and back from there.
// Never: believes a file that somebody else could have written: what it says is used without being asked for.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/device/attested.h"
#include "src/jobs/doctor/attest.h"

namespace millrace::doctor {

struct TriedDevice {
  Device device;
  std::vector<Trial> trials;
};

// Failure(usage) where no home folder is known.
std::string attested_path();
// In the place of what was kept of the same devices: what is not right any more is not attested any more.
void keep(std::span<const TriedDevice> tried);
// Nothing where there is no such file, or it is damaged. One that others could have written is told with its reason, if
// anybody asks for it.
std::vector<LocalAttestation> attested_here(std::string* why_not_believed = nullptr);

}  // namespace millrace::doctor
