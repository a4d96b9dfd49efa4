// Input: the files and folders that the user named.
// Output: the images among them, each with a name for its results; errors for files that cannot be read.
// Never: gives two images one name, or a name that leads out of the results folder; opens an image.
#pragma once

#include <string>
#include <vector>

#include "src/jobs/named_inputs.h"
#include "src/jobs/segment/options.h"
#include "src/pipeline/run_context.h"

namespace millrace::segment {

using SegmentInput = NamedInput;

struct SegmentInputs {
  std::vector<SegmentInput> pictures;
  std::vector<Error> unreadable;
};

bool is_input(const Options& options, const std::string& path);
// Throws Failure(usage) if no input was named, or if the results of two images would collide.
SegmentInputs find_inputs(const Options& options, const RunContext& context);

}  // namespace millrace::segment
