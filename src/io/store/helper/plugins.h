// Input: the folders in which the HDF5 library looks for plugins: HDF5_PLUGIN_PATH, or its built-in default.
// Output: the filters of these plugins, loaded and registered.
// Never: leaves a plugin to be loaded later: inside its sandbox a helper opens no file and maps no code.
#pragma once

namespace millrace::hdf5::helper {

// A plugin that cannot be loaded counts as missing.
void load_plugins();

}  // namespace millrace::hdf5::helper
