// Input: nothing.
// Output: `dedupe`, and its compare, review, apply, undo and purge, as jobs.
// Never: more than options and a run put together.
#pragma once

#include <memory>

#include "src/jobs/job.h"

namespace millrace::dedupe {

std::unique_ptr<Job> make_job();
// What acts on its result.
std::unique_ptr<Job> make_compare_job();
std::unique_ptr<Job> make_review_job();
std::unique_ptr<Job> make_apply_job();
std::unique_ptr<Job> make_undo_job();
std::unique_ptr<Job> make_purge_job();

}  // namespace millrace::dedupe
