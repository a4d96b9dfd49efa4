// A filter that the HDF5 library does not bring: each byte is turned around. hdf5_reader_test.cc reads what it wrote.
// As most plugins call the library of the program that loads them, it reads nothing where that has none to show.
#include <H5PLextern.h>
#include <dlfcn.h>
#include <hdf5.h>

#include <cstddef>

namespace {

std::size_t turn(unsigned flags, std::size_t, const unsigned*, std::size_t bytes, std::size_t*, void** buffer) {
  if ((flags & H5Z_FLAG_REVERSE) != 0 && dlsym(RTLD_DEFAULT, "H5allocate_memory") == nullptr) return 0;
  auto* const at = static_cast<unsigned char*>(*buffer);
  for (std::size_t i = 0; i < bytes; ++i) at[i] = static_cast<unsigned char>(~at[i]);
  return bytes;
}

const H5Z_class2_t kTurned = {H5Z_CLASS_T_VERS, 300, 1, 1, "turned", nullptr, nullptr, turn};

}  // namespace

H5PL_type_t H5PLget_plugin_type() { return H5PL_TYPE_FILTER; }
const void* H5PLget_plugin_info() { return &kTurned; }
