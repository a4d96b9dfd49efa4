// Input: what a person named.
// Output: the pictures in it, each with a name for its results; and what could not be looked at.
// Never: gives two pictures one name, or a name that leads out of the folder of results; opens a picture.
#pragma once

#include <string>
#include <vector>

#include "src/jobs/named_inputs.h"
#include "src/jobs/segment/options.h"
#include "src/pipeline/run_context.h"

namespace millrace::segment {

using Input = NamedInput;

struct Inputs {
  std::vector<Input> pictures;
  std::vector<Error> unreadable;
};

bool is_input(const Options& options, const std::string& path);
// Failure(usage) where nothing was named, or results of two would lie in each other's way.
Inputs find_inputs(const Options& options, const RunContext& context);

}  // namespace millrace::segment
