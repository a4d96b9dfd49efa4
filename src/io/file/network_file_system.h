// Input: a folder.
// Output: the name of the network file system that it lies on.
// Guarantees: one that is not known here, as what FUSE mounts, counts as none.
#pragma once

#include <string>

namespace millrace {

// "NFS"; empty for a disk of this machine, and where nothing tells.
std::string network_file_system(const std::string& folder);

}  // namespace millrace
