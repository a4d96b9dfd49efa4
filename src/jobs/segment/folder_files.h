// Input: what is known of all pictures in the folder of results.
// Output: the tables of them, and the page where it is wanted.
// Never: replaces a file of these names that no run has written.
#pragma once

#include <string>
#include <vector>

#include "src/jobs/segment/page.h"

namespace millrace::segment {

// Before the work: Failure(conflict) where one of them could not be written in the end.
void check_folder_files(const Options& options, const Setup& setup);
// The page's path; empty where there is none. A page that an earlier run wrote would tell of other results than those
// that lie beside it: it is kept up to date.
std::string write_folder_files(const Options& options, const PageView& view, RunContext& context);

// Nothing was made, and nothing is in the folder but what says what would have been: that goes, too, and true is said.
bool forget_if_empty(const std::string& output);

}  // namespace millrace::segment
