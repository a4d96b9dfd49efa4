// Input: a helper program, its arguments and the descriptors that it is given.
// Output: its process.
// Never: gives it anything else: no other descriptor, no terminal, nothing of the environment but where libraries are
//   found and how they are watched.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>
#include <utility>

namespace millrace {

// In a session of its own, with `given` as (descriptor here, number there); its stdin is empty, and its stdout and
// stderr are this program's where none is given. 0, or errno.
int spawn(const std::string& program, std::span<const std::string> arguments,
          std::span<const std::pair<int, int>> given, pid_t& pid);

}  // namespace millrace
