// Input: nothing.
// Output: the jobs `dedupe` and its compare, review, apply, undo and purge.
// Never: does more than combine options and a run.
#pragma once

#include <memory>

#include "src/jobs/job.h"

namespace millrace::dedupe {

std::unique_ptr<Job> make_job();
// Jobs of the subcommands.
std::unique_ptr<Job> make_compare_job();
std::unique_ptr<Job> make_review_job();
std::unique_ptr<Job> make_apply_job();
std::unique_ptr<Job> make_undo_job();
std::unique_ptr<Job> make_purge_job();

}  // namespace millrace::dedupe
