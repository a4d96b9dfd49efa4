// Input: nothing.
// Output: `latents` as a job.
// Never: more than options and a run put together.
#pragma once

#include <memory>

#include "src/jobs/job.h"

namespace millrace::latents {

std::unique_ptr<Job> make_job();

}  // namespace millrace::latents
