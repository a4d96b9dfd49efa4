#pragma once

namespace millrace {

// Returns the version of this program, library or helper: "0.1.0".
const char* version();

}  // namespace millrace
