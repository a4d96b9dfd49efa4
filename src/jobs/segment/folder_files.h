// Input: the results of all images in the results folder.
// Output: the tables of these results, and the report page if it is requested.
// Never: replaces a file of these names that no run has written.
#pragma once

#include <string>
#include <vector>

#include "src/jobs/segment/page.h"

namespace millrace::segment {

// Throws Failure(conflict) if one of these files could not be written in the end. Called before the work.
void check_folder_files(const Options& options, const Setup& setup);
// Writes the files and returns the path of the page; empty if there is none. A page of an earlier run is updated even
// if it is not requested, as it would show outdated results.
std::string write_folder_files(const Options& options, const PageView& view, RunContext& context);

// Removes run.json if the folder holds nothing but run.json and the work folder; then returns true.
bool remove_run_record_if_empty(const std::string& output);

}  // namespace millrace::segment
