// Input: a shared object beside the program, which may be missing.
// Output: the backend that runs models, or advice on what to install.
// Never: links it. A program without it does everything that needs no model.
#pragma once

#include <string>

#include "src/base/error.h"
#include "src/model/backend.h"

namespace millrace::model {

// Opens a backend once and never closes it. Returns Error(unavailable) where it is missing, needs a missing library, or
// belongs to another version.
Outcome<const Backend*> open_backend(const std::string& library);
// Returns the backend of this machine, beside the program or in the folder that MILLRACE_HELPERS names.
Outcome<const Backend*> runtime();

}  // namespace millrace::model
