// Input: the name of a results folder, and the provenance of the results to be made.
// Output: the folder, claimed for this job, with a file that records the provenance of all results in it.
// Never: claims a folder that holds other files, or results with another provenance.
#pragma once

#include <string>

#include "src/base/error.h"
#include "src/io/store/dataset.h"

namespace millrace {

// Claims a folder that is new, empty, or has results of the same provenance `now`. Throws Failure(conflict) that says
// what else it is. `work_folder` is a name in it that concurrent runs may use already; empty if there is none.
void claim_folder(const std::string& folder, const Attributes& now, const std::string& work_folder = "");
// Checks the same without creating or writing anything.
void check_folder(const std::string& folder, const Attributes& now, const std::string& work_folder = "");
// Creates a subfolder of `top` if it is missing. Throws Failure(conflict) if a link leads out of `top`.
void make_folder_below(const std::string& top, const std::string& folder);
// Throws `error` if the folder cannot be written to any more: then the input is not the cause.
void throw_if_nothing_can_be_written(const Error& error, const std::string& folder);
// Removes the stale temporary files of killed runs. The folder must belong to this run alone.
void remove_stale_temporaries(const std::string& folder);

}  // namespace millrace
