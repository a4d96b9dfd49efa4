#include "src/device/device.h"

#include <gtest/gtest.h>

#include <array>

#include "src/base/error.h"

namespace millrace {
namespace {

ErrorCode refused(const std::string& wish, std::span<const DeviceKind> has = {}) {
  try {
    choose_devices(wish, has);
  } catch (const Failure& failure) {
    EXPECT_FALSE(failure.error().remedy.empty());
    return failure.error().code;
  }
  ADD_FAILURE() << wish << " was taken";
  return ErrorCode::io;
}

TEST(Device, AJobForTheCpuAloneRunsThere) {
  for (const char* wish : {"auto", "cpu"}) {
    const auto devices = choose_devices(wish, {});
    ASSERT_EQ(devices.size(), 1U);
    EXPECT_EQ(name_of(devices[0]), "cpu");
  }
}

TEST(Device, TheCpuIsAlwaysThere) {
  constexpr std::array kAll = {DeviceKind::cuda, DeviceKind::opencl};
  EXPECT_EQ(choose_devices("auto", kAll).back().kind, DeviceKind::cpu);
  EXPECT_EQ(choose_devices("cpu", kAll).size(), 1U) << "who asks for the CPU gets nothing else";
}

TEST(Device, WhatIsNoDeviceIsWrongUsage) {
  for (const char* wish : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda0", "opencl:", "cpu:0"})
    EXPECT_EQ(refused(wish), ErrorCode::usage) << wish;
}

TEST(Device, WhatIsNotHereOrOfNoUseSaysSo) {
  EXPECT_EQ(refused("opencl"), ErrorCode::unavailable);
  EXPECT_EQ(refused("cuda"), ErrorCode::unavailable) << "here or not: the job has no version for it";
  constexpr std::array kCuda = {DeviceKind::cuda};
  EXPECT_EQ(refused("cuda:4000", kCuda), ErrorCode::unavailable);
}

TEST(Device, NamesAreWhatTheOptionTakes) {
  EXPECT_EQ(name_of({DeviceKind::cuda, 2, "a card", {}, {}, {}, {}}), "cuda:2");
  EXPECT_EQ(name_of({DeviceKind::opencl, 0, "a card", {}, {}, {}, {}}), "opencl:0");
}

}  // namespace
}  // namespace millrace
