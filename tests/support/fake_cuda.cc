// A library that looks like NVIDIA's driver to src/device/cuda/driver.cc. What it pretends is in
// FAKE_CUDA.
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace {

bool pretends(const char* what) {
  const char* wish = std::getenv("FAKE_CUDA");
  return wish != nullptr && std::strcmp(wish, what) == 0;
}

}  // namespace

extern "C" {

int cuInit(unsigned flags) { return flags != 0 || pretends("does not start") ? 999 : 0; }

int cuDriverGetVersion(int* version) {
  *version = 12040;
  return 0;
}

int cuDeviceGetCount(int* count) {
  *count = pretends("no device") ? 0 : 3;
  return pretends("no count") ? 3 : 0;
}

int cuDeviceGet(int* device, int ordinal) {
  if (pretends("silent") || ordinal == 1) return 101;  // the middle one is broken
  *device = 100 + ordinal;
  return 0;
}

int cuDeviceGetName(char* name, int length, int device) {
  std::strncpy(name, device == 100 ? "Fake GPU A" : "Fake GPU B", static_cast<std::size_t>(length));
  return 0;
}

int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  *bytes = device == 100 ? std::size_t{24} << 30 : std::size_t{80} << 30;
  return 0;
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  *value = attribute == 75 ? (device == 100 ? 8 : 9) : attribute == 76 ? (device == 100 ? 6 : 0) : -1;
  return 0;
}

}  // extern "C"
