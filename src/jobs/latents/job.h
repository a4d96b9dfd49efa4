// Input: nothing.
// Output: the command `latents` as a job.
// Never: does more than connect options and run.
#pragma once

#include <memory>

#include "src/jobs/job.h"

namespace millrace::latents {

std::unique_ptr<Job> make_job();

}  // namespace millrace::latents
