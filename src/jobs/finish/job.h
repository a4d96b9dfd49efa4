// Input: nothing.
// Output: `finish` as a job: outputs that several runs have made in parts.
// Never: more than options and a run put together.
#pragma once

#include <memory>

#include "src/jobs/job.h"

namespace millrace::finish_parts {

std::unique_ptr<Job> make_job();

}  // namespace millrace::finish_parts
