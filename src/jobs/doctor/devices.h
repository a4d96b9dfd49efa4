// Input: nothing.
// Output: every GPU of this machine, and whether its kernels give their known answers.
// Never: fails because of a device.
#pragma once

#include "src/jobs/doctor/report.h"

namespace millrace::doctor {

void examine_devices(Findings& findings);

}  // namespace millrace::doctor
