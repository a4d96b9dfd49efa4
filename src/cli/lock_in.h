// Enters: what a run will read and write, before the program's second thread and first helper.
// Leaves: a program whom the kernel refuses all other files, the network and other processes: who takes it over by a
//   file that it reads has what the run was given.
// Never: undone; fails: what a kernel lacks is said.
#pragma once

#include "src/jobs/job_runner.h"

namespace millrace::cli {

LockedIn lock_in(const Outputs& outputs);

}  // namespace millrace::cli
