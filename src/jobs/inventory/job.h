// Input: nothing.
// Output: `inventory` as a job: one walk for all runs that share a collection.
// Never: opens a file that it lists.
#pragma once

#include <memory>

#include "src/jobs/job.h"

namespace millrace::inventory {

std::unique_ptr<Job> make_job();

}  // namespace millrace::inventory
