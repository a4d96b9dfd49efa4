#pragma once

namespace millrace {

// "0.1.0": of this program, library or helper.
const char* version();

}  // namespace millrace
