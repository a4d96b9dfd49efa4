// Input: a shared object beside the program that may or may not be there.
// Output: what runs models, or what to install.
// Never: links it: a program without it does all that needs no model.
#pragma once

#include <string>

#include "src/base/error.h"
#include "src/model/backend.h"

namespace millrace::model {

// Opened once and never closed. Error(unavailable) where it is not there, needs what is not there, or is another
// version's.
Outcome<const Backend*> open_backend(const std::string& library);
// What this machine has, beside the program or where MILLRACE_HELPERS says.
Outcome<const Backend*> runtime();

}  // namespace millrace::model
