// Input: a helper program, its arguments and the descriptors that it is given.
// Output: its process.
// Never: gives it anything else: no other descriptor, no terminal, and of the environment only the paths of libraries
// and the options of sanitizers.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>
#include <utility>

namespace millrace {

// Starts the helper in a session of its own, with `given` as pairs (descriptor here, number there). Its stdin is empty.
// Its stdout and stderr are this program's where none is given. Returns 0, or errno.
int spawn(const std::string& program, std::span<const std::string> arguments,
          std::span<const std::pair<int, int>> given, pid_t& pid);

}  // namespace millrace
