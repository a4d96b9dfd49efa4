// Input: none.
// Output: the job `render`.
// Never: does more than connect options and a run.
#pragma once

#include <memory>

#include "src/jobs/job.h"

namespace millrace::render {

std::unique_ptr<Job> make_job();

}  // namespace millrace::render
