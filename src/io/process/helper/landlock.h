// Input: what a process may still do with files.
// Output: a process, and those that it starts, whom the kernel refuses all else that Landlock knows of files and TCP.
// Never: loosens what was refused before.
#pragma once

#include <cstdint>
#include <string>

namespace millrace {

class Landlock {
 public:
  // The version that this kernel has; 0 and errno where it has none.
  static int version();

  // Use of a file, or of all below a folder.
  enum class Use : std::uint8_t {
    read,
    run,      // read, and start or load as a library
    write,    // read and write files, make, rename and remove them and folders
    devices,  // read and write a file of a device, and control it
  };

  // Refuses nothing yet.
  Landlock();
  ~Landlock();
  Landlock(const Landlock&) = delete;
  Landlock& operator=(const Landlock&) = delete;

  // Follows links. False, and errno, where the path is not there or the kernel does not take it.
  bool allow(const std::string& path, Use use);
  // For the calling thread and those that it starts. Nothing where it stands; else why not.
  std::string enforce();

 private:
  int version_, fd_ = -1;
  std::string problem_;
};

}  // namespace millrace
