// Input: a helper that has loaded everything it needs, before its first byte from outside and before its second thread.
// Output: a process that can only compute, read the files that it was given, and answer. A decoder that a hostile file
// has compromised can use no other file, no network, no other process and no privilege.
// Never: fails. A layer of the sandbox that the kernel lacks is reported, and the other layers hold.
#pragma once

#include <string>
#include <vector>

namespace millrace {

struct SandboxLayer {
  const char* name;  // "files"
  bool is_active;
  std::string how;  // "Landlock 6"; or the reason why it is missing
};

std::vector<SandboxLayer> enter_helper_sandbox();

// Sandbox for a program that continues to read and write files. It creates no sockets except pairs, changes no modes,
// owners or times by a path, and reaches no other process and no kernel interface. Threads and processes that it starts
// inherit this.
SandboxLayer refuse_dangerous_calls();
// Drops root's capabilities, except those for file access and for starting helpers.
SandboxLayer drop_capabilities();

}  // namespace millrace
