// Input: nothing.
// Output: the command `hash` as a Job.
// Never: does more than connect the options with a run.
#pragma once

#include <memory>

#include "src/jobs/job.h"

namespace millrace::hash {

std::unique_ptr<Job> make_job();

}  // namespace millrace::hash
