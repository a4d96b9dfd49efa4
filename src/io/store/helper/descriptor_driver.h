// Input: the descriptor of a file that the program has opened.
// Output: access for the HDF5 library, which reads the file under one fixed name, from the descriptor.
// Never: opens another file, even if the file refers to one; writes; returns zeros for bytes that were not read.
#pragma once

#include "src/io/store/hdf5_handle.h"

namespace millrace::hdf5::helper {

// Name for H5Fopen(). The library uses other names to open the files that links and virtual datasets lead to.
inline constexpr const char* kGivenFile = "/the file that was given";

// Returns an access property list for that name. The caller owns the descriptor, and keeps it open as long as the file.
Handle access_by_descriptor(int fd);

}  // namespace millrace::hdf5::helper
