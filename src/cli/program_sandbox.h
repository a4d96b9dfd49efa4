// Input: the files that a run reads and the folders it writes in, before the program's second thread and first helper.
// Output: a program to which the kernel refuses all other files, the network and other processes. An attacker who takes
// control of it through an input file reaches only the files that were given to the run.
// Guarantees: the sandbox cannot be left. A kernel without a needed feature causes no exception; the report lists it.
#pragma once

#include "src/jobs/job_runner.h"

namespace millrace::cli {

SandboxReport enter_sandbox(const OutputRegistry& outputs);

}  // namespace millrace::cli
