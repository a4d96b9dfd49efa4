// Enters: a helper that has loaded all it needs: before its first byte from outside, before its second thread.
// Leaves: a process that can compute, read what it was given and answer, and nothing else. A decoder that a hostile
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

// For a program that goes on to read and write files: no socket but a pair, and no call that reaches into other
// processes or the kernel. It holds for the threads and processes that are started behind it.
Wall close_network();
// Of the same: root keeps what files and the start of helpers take.
Wall give_up_powers();

}  // namespace millrace
