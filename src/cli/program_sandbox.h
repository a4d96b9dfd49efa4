// Input: the files that a run reads and the folders it writes in, before the program's second thread and first helper.
// Output: a program that the kernel refuses all other files, the network and other processes. Whoever takes it over by
//   a file that it reads has what the run was given.
// Guarantees: it cannot be undone and does not throw for what a kernel lacks, which the report names.
#pragma once

#include "src/jobs/job_runner.h"

namespace millrace::cli {

SandboxReport enter_sandbox(const Outputs& outputs);

}  // namespace millrace::cli
