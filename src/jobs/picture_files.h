// Input: folders and files, and the user's options for the images in them.
// Output: these options, the same in every job that reads images; the files; how each of them is decoded.
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
  Bytes max_size = kMaxFileBytes;
  long long max_pixels = 1'000'000'000;
  bool wide_gray = false, over_gray = false;  // as in DecodeOptions; set by the job, not by the user
};

void describe(Settings& settings, PictureFileOptions& options);

// Returns the options for decoding: with the helper processes of the run, and until the run is cancelled.
DecodeOptions decode_options(const PictureFileOptions& options, RunContext& context);

}  // namespace millrace
