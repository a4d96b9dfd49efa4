// Input: the name of a folder of results, and what results are to be made of.
// Output: that folder as this job's, with a file that says what all results in it are made of.
// Never: takes one that holds other things, or results that were made otherwise.
#pragma once

#include <string>

#include "src/base/error.h"
#include "src/io/store/dataset.h"

namespace millrace {

// New, or empty, or an earlier run's of the same. Failure(conflict) that says what it is else. `unfinished` is where
// runs that begin at the same time may be at work in it already; empty where nowhere.
void claim_folder(const std::string& folder, const Attributes& now, const std::string& unfinished = "");
// The same without making or writing anything.
void check_folder(const std::string& folder, const Attributes& now, const std::string& unfinished = "");
// A folder in it, made where it is missing. Failure(conflict) where a link leads out of it.
void make_folder_below(const std::string& top, const std::string& folder);
// Throws what has failed where nothing can be written there any more: then it is no input's fault.
void throw_if_nothing_can_be_written(const Error& error, const std::string& folder);
// What runs that were killed were just writing. The folder is this run's alone.
void remove_litter(const std::string& folder);

}  // namespace millrace
