// Enters: what a compiled model depends on.
// Leaves: a folder for it in the user's own cache.
// Never: one that anybody else could have written to: what is compiled is run.
#pragma once

#include <string>

#include "src/base/error.h"
#include "src/model/session.h"

namespace millrace::model {

// In hexadecimal: of the model's bytes, how it is to run, the runtime's version, and the CPU.
std::string cache_key(const ModelFile& file, const SessionOptions& options, const std::string& runtime);
// TOP/KEY, made with mode 0700 as is what is missing above it. Error(conflict) where it, or TOP, is somebody else's or
// others may write to it. Of many, those that were used least lately go.
Outcome<std::string> cache_folder(const std::string& top, const std::string& key);

}  // namespace millrace::model
