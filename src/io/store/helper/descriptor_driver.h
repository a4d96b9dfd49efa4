// Input: a file that the program has opened.
// Output: how the HDF5 library reads it: under one name, from its descriptor.
// Never: opens a file, whatever another one calls for; writes; answers what was not read with zeros.
#pragma once

#include "src/io/store/hdf5_handle.h"

namespace millrace::hdf5::helper {

// What H5Fopen() is given. By other names the library opens the files that links and virtual datasets lead to.
inline constexpr const char* kGivenFile = "/the file that was given";

// An access list for that name. The descriptor stays the caller's, and open as long as the file is.
Handle access_by_descriptor(int fd);

}  // namespace millrace::hdf5::helper
