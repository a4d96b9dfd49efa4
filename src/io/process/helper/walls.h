// Input: a helper that has loaded all it needs: before its first byte from outside, before its second thread.
// Output: a process that can compute, read what it was given and answer, and nothing else. A decoder that a hostile
//   file has taken over has no file, no network, no other process and no privilege.
// Never: fails: what a kernel lacks is said, and the other walls stand.
#pragma once

#include <string>
#include <vector>

namespace millrace {

struct Wall {
  const char* name;  // "files"
  bool stands;
  std::string how;  // "Landlock 6"; or why it does not stand
};

std::vector<Wall> put_up_walls();

// For a program that goes on to read and write files: it makes no socket but a pair, changes no modes, owners and times
// by a path, and reaches into no other process and not into the kernel. Threads and processes that it starts inherit
// that.
Wall refuse_dangerous_calls();
// Drops root's capabilities, except those that file access and starting helpers need.
Wall drop_capabilities();

}  // namespace millrace
