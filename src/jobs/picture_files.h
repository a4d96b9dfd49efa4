// Input: folders and files, and what a person says of the pictures in them.
// Output: the options for it, the same in every job; the files; how each of them is decoded.
// Never: opens a file.
#pragma once

#include <string>
#include <vector>

#include "src/base/settings.h"
#include "src/io/file/walk.h"
#include "src/io/image/picture.h"
#include "src/jobs/folder_options.h"
#include "src/pipeline/run_context.h"

namespace millrace {

struct PictureFileOptions : FolderOptions {
  Bytes max_size = kMostFileBytes;
  long long max_pixels = 1'000'000'000;
  bool wide_gray = false, over_gray = false;  // as DecodeOptions has them; a job's, and nobody's to choose
};

void describe(Settings& settings, PictureFileOptions& options);

// As the options say, in the helpers of the run, until it is told to stop.
DecodeOptions decode_options(const PictureFileOptions& options, RunContext& context);

}  // namespace millrace
