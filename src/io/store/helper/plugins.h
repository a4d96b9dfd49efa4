// Input: the folders that the HDF5 library looks for plugins in: HDF5_PLUGIN_PATH, or where it was built to look.
// Output: their filters, loaded and registered.
// Never: leaves one to be loaded later: behind its walls a helper opens no file and maps no code.
#pragma once

namespace millrace::hdf5::helper {

// One that cannot be loaded is as one that is not there.
void load_plugins();

}  // namespace millrace::hdf5::helper
