#include "src/device/device.h"

#include <gtest/gtest.h>

#include <array>

#include "src/base/error.h"
#include "src/device/attested.h"

namespace millrace {
namespace {

ErrorCode refused(const DeviceRequest& wish, std::span<const DeviceKind> has = {}) {
  try {
    choose_device(wish, has);
  } catch (const Failure& failure) {
    EXPECT_FALSE(failure.error().remedy.empty());
    return failure.error().code;
  }
  ADD_FAILURE() << wish.device << " was taken";
  return ErrorCode::io;
}

TEST(Device, AJobForTheCpuAloneRunsThere) {
  for (const char* wish : {"auto", "cpu"}) EXPECT_FALSE(choose_device({.device = wish}, {}).device) << wish;
}

TEST(Device, WhoAsksForTheCpuGetsNothingElse) {
  EXPECT_FALSE(choose_device({.device = "cpu"}, kGpuKinds).device);
  EXPECT_FALSE(choose_device({.gpu = false}, kGpuKinds).device);
  EXPECT_FALSE(choose_device({.device = "cpu", .gpu = false}, kGpuKinds).device);
}

TEST(Device, WhatIsNoDeviceIsWrongUsage) {
  for (const char* wish : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda0", "opencl:", "cpu:0"})
    EXPECT_EQ(refused({.device = wish}), ErrorCode::usage) << wish;
  for (const char* order : {"", "cpu", "cuda,", "cuda;opencl", "metal"})
    EXPECT_EQ(refused({.order = order}), ErrorCode::usage) << order;
  EXPECT_EQ(refused({.device = "cpu", .gpu = true}), ErrorCode::usage);
  EXPECT_EQ(refused({.device = "cuda", .gpu = false}), ErrorCode::usage);
}

TEST(Device, UnusableDevicesAreReported) {
  for (const char* wish : {"cuda", "opencl"}) {
    EXPECT_EQ(refused({.device = wish}), ErrorCode::unavailable) << "here or not: the job has no version for it";
  }
  EXPECT_EQ(refused({.gpu = true}), ErrorCode::unavailable);
  EXPECT_EQ(refused({.device = "cuda:4000"}, kGpuKinds), ErrorCode::unavailable);
}

TEST(Device, FallbackIsReported) {
  const ChosenDevice chosen = choose_device({.device = "cuda:4000", .fallback = true}, kGpuKinds);
  EXPECT_FALSE(chosen.device);
  EXPECT_NE(chosen.note.find("--device cuda:4000"), std::string::npos) << chosen.note;
  EXPECT_EQ(choose_device({.fallback = true}, kGpuKinds).note, "") << "nothing was asked for";
}

TEST(Device, NamesAreWhatTheOptionTakes) {
  EXPECT_EQ(name_of({.kind = DeviceKind::cuda, .index = 2}), "cuda:2");
  EXPECT_EQ(name_of({.kind = DeviceKind::opencl, .index = 0}), "opencl:0");
}

// An attestation holds for one device, one driver and one kernel, and for no similar ones.
TEST(Attested, HereIsForWhatWasTriedAlone) {
  Device card;
  card.kind = DeviceKind::cuda;
  card.name = "Made up";
  card.uuid = "GPU-1";
  card.capability = "8.6";
  card.driver = "12.4 (550.54.14)";
  const std::vector<LocalAttestation> here = {
      {"GPU-1", "12.4 (550.54.14)", "a"}, {"GPU-1", "12.4 (550.54.14)", ""}, {"", "12.4 (550.54.14)", "a"}};
  EXPECT_TRUE(is_attested("a", card, here));
  EXPECT_FALSE(is_attested("a", card));
  EXPECT_FALSE(is_attested("b", card, here));
  EXPECT_FALSE(is_attested("", card, here));
  Device other = card;
  other.driver = "12.4 (550.90.07)";
  EXPECT_FALSE(is_attested("a", other, here));
  other = card;
  other.uuid = "GPU-2";
  EXPECT_FALSE(is_attested("a", other, here));
  other = card;
  other.uuid = "";
  EXPECT_FALSE(is_attested("a", other, here));
  other = card;
  other.kind = DeviceKind::opencl;
  EXPECT_FALSE(is_attested("a", other, here));
}

}  // namespace
}  // namespace millrace
