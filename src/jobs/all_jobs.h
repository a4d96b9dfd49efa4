// Input: nothing.
// Output: every job by its name, in the order of the help.
// Never: makes one that nobody asks for.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "src/jobs/job.h"

namespace millrace {

struct ListedJob {
  std::string_view name, about;
  std::string_view below;  // the job that it stands below, as `apply` below `dedupe`; empty: below none
  std::unique_ptr<Job> (*make)();
};

// What stands below another comes behind it.
std::span<const ListedJob> all_jobs();

}  // namespace millrace
