// Input: the path of a folder.
// Output: the name of the network file system that holds the folder.
// Guarantees: a file system that is not in the list, such as a FUSE mount, counts as local.
#pragma once

#include <string>

namespace millrace {

// Returns a name such as "NFS"; empty for a disk of this machine, or if the file system cannot be determined.
std::string network_file_system(const std::string& folder);

}  // namespace millrace
