// Input: nothing.
// Output: the command `finish` as a Job: it merges outputs whose shards several runs made.
// Never: does more than connect the options with a run.
#pragma once

#include <memory>

#include "src/jobs/job.h"

namespace millrace::finish_shards {

std::unique_ptr<Job> make_job();

}  // namespace millrace::finish_shards
