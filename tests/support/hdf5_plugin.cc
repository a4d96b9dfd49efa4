// A filter that the HDF5 library does not bring: each byte is turned around. hdf5_reader_test.cc reads what it wrote.
#include <H5PLextern.h>
#include <hdf5.h>

#include <cstddef>

namespace {

std::size_t turn(unsigned, std::size_t, const unsigned*, std::size_t bytes, std::size_t*, void** buffer) {
  auto* const at = static_cast<unsigned char*>(*buffer);
  for (std::size_t i = 0; i < bytes; ++i) at[i] = static_cast<unsigned char>(~at[i]);
  return bytes;
}

const H5Z_class2_t kTurned = {H5Z_CLASS_T_VERS, 300, 1, 1, "turned", nullptr, nullptr, turn};

}  // namespace

H5PL_type_t H5PLget_plugin_type() { return H5PL_TYPE_FILTER; }
const void* H5PLget_plugin_info() { return &kTurned; }
