// Input: nothing.
// Output: all jobs with their names, in the order of the help.
// Never: constructs a job that was not requested.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "src/jobs/job.h"

namespace millrace {

struct ListedJob {
  std::string_view name, about;
  std::string_view parent_command;  // the parent command, as `dedupe` for `apply`; empty if there is none
  std::unique_ptr<Job> (*make)();
};

// Returns all jobs. A job with a parent comes after it.
std::span<const ListedJob> all_jobs();

}  // namespace millrace
