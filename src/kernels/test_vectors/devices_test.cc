// Tests that all kernels for devices are in the registry.
#include "src/kernels/test_vectors/devices.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

namespace millrace::test_vectors {
namespace {

TEST(DeviceKernels, EveryBodyIsInTheRegistry) {
  std::set<std::string> registered, bodies;
  for (const DeviceKernels& kernels : device_kernels()) registered.insert(std::string(kernels.source().name));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(MILLRACE_SOURCE_DIR "/src")) {
    const std::string name = entry.path().filename();
    constexpr std::string_view kEnd = "_body.inc";
    if (name.ends_with(kEnd)) bodies.insert(name.substr(0, name.size() - kEnd.size()));
  }
  EXPECT_EQ(registered, bodies);
  EXPECT_FALSE(bodies.empty());
}

}  // namespace
}  // namespace millrace::test_vectors
