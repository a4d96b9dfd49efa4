// Input: nothing.
// Output: the command `inventory` as a Job: one directory walk for all runs that share a collection.
// Never: opens a file that it lists.
#pragma once

#include <memory>

#include "src/jobs/job.h"

namespace millrace::inventory {

std::unique_ptr<Job> make_job();

}  // namespace millrace::inventory
