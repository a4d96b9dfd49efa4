// These tests need no GPU: the driver is a small library of this project (tests/support/gpu/fake_cuda.cc).
#include "src/device/cuda/driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/support/gpu/fake_cuda.h"

namespace millrace {
namespace {

using testing::HasSubstr;

CudaDriver fake(const char* pretends) {
  ::setenv("FAKE_CUDA", pretends, 1);
  CudaDriver driver = find_cuda_driver(kFakeCudaPath);
  ::unsetenv("FAKE_CUDA");
  return driver;
}

TEST(CudaDriver, AMissingLibraryIsAReason) {
  const CudaDriver driver = find_cuda_driver("libnot-a-driver.so.1");
  EXPECT_TRUE(driver.devices.empty());
  EXPECT_THAT(driver.reason, HasSubstr("no NVIDIA driver"));
  EXPECT_THAT(driver.reason, HasSubstr("libnot-a-driver.so.1"));
}

TEST(CudaDriver, ALibraryWithoutTheCallsIsAReason) {
  const CudaDriver driver = find_cuda_driver("libm.so.6");
  EXPECT_TRUE(driver.devices.empty());
  EXPECT_THAT(driver.reason, HasSubstr("lacks the function cuInit"));
}

TEST(CudaDriver, ListsDevicesAndSkipsABrokenOne) {
  const CudaDriver driver = fake("");
  EXPECT_EQ(driver.reason, "");
  EXPECT_EQ(driver.version, 12040);
  ASSERT_EQ(driver.devices.size(), 2U);
  EXPECT_EQ(driver.devices[0].name, "Fake GPU A");
  EXPECT_EQ(driver.devices[0].memory, 24_GiB);
  EXPECT_EQ(driver.devices[0].major, 8);
  EXPECT_EQ(driver.devices[0].minor, 6);
  EXPECT_EQ(driver.devices[1].name, "Fake GPU B");
  EXPECT_EQ(driver.devices[1].memory, 80_GiB);
  EXPECT_EQ(driver.devices[1].major, 9);
  EXPECT_EQ(driver.devices[1].minor, 0);
}

TEST(CudaDriver, EveryWayToHaveNoneHasItsReason) {
  EXPECT_THAT(fake("does not start").reason, HasSubstr("cuInit returned 999"));
  EXPECT_EQ(fake("no device").reason, "the NVIDIA driver lists no device");
  EXPECT_EQ(fake("no count").reason, "the NVIDIA driver lists no device");
  EXPECT_EQ(fake("silent").reason, "no device of the NVIDIA driver responds");
  for (const char* pretends : {"does not start", "no device", "no count", "silent"}) {
    EXPECT_TRUE(fake(pretends).devices.empty());
  }
}

TEST(CudaDriver, BuildIsReadFromTheKernelModule) {
  const std::string by_library = find_cuda_driver(kFakeCudaPath, "/nonexistent").build;
  EXPECT_THAT(by_library, HasSubstr(std::to_string(std::filesystem::file_size(kFakeCudaPath))));
  const std::string path = testing::TempDir() + "nvidia-version-" + std::to_string(::getpid());
  for (const auto& [text, build] : std::vector<std::pair<std::string, std::string>>{
           {"NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 01:44:30 UTC 2024\nGCC version:  "
            "13.2.0\n",
            "550.54.14"},
           {"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86  Release Build\n", "570.86"},
           {"no numbers\n", by_library},
           {"", by_library}}) {
    std::ofstream(path) << text;
    EXPECT_EQ(find_cuda_driver(kFakeCudaPath, path).build, build);
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace millrace
