// Input: the files that a process may still use, and how.
// Output: a process, with those that it starts, to which the kernel refuses every other use of files and TCP that
// Landlock controls.
// Never: permits what was refused before.
#pragma once

#include <cstdint>
#include <string>

namespace millrace {

class Landlock {
 public:
  // Returns the version of Landlock in this kernel; 0, with errno, where there is none.
  static int version();

  // Kind of access to a file, or to everything below a folder.
  enum class Use : std::uint8_t {
    read,
    run,      // read, and execute or load as a library
    write,    // read and write files; create, rename and remove files and folders
    devices,  // read, write and control a device file
  };

  // Creates a ruleset without rules. It refuses nothing before enforce().
  Landlock();
  ~Landlock();
  Landlock(const Landlock&) = delete;
  Landlock& operator=(const Landlock&) = delete;

  // Follows symbolic links. False, with errno, where the path does not exist or the kernel does not accept it.
  bool allow(const std::string& path, Use use);
  // Restricts the calling thread and those that it starts. Returns an empty text on success, else the reason.
  std::string enforce();

 private:
  int version_, fd_ = -1;
  std::string problem_;
};

}  // namespace millrace
