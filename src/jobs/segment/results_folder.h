// Enters: the name of a folder of results, and what results are to be made of.
// Leaves: that folder as this job's, with a file that says what all results in it are made of.
// Never: takes one that holds other things, or results that were made otherwise.
#pragma once

#include <string>

#include "src/io/store/dataset.h"
#include "src/jobs/segment/options.h"

namespace millrace::segment {

inline constexpr const char* kRunFile = "run.json";
inline constexpr const char* kTableFile = "pictures.csv";

// New, or empty, or an earlier run's of the same. Failure(conflict) that says what it is else.
void claim_folder(const Options& options, const Attributes& now);
// What runs that were killed were just writing. The folder is this run's alone.
void remove_litter(const std::string& folder);

}  // namespace millrace::segment
