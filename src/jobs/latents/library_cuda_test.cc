// Tests of latents in the memory of a CUDA device, which is simulated (tests/support/gpu).
#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <vector>

#include "include/millrace/latents.h"

#include "src/device/devices_for_test.h"
#include "src/device/queue.h"
#include "src/kernels/latents/latents_test_vectors.h"

namespace millrace {
namespace {

// Returns all numbers as bits.
std::vector<std::uint64_t> bits(const std::vector<LatentMeasures>& all) {
  std::vector<std::uint64_t> out;
  for (const LatentMeasures& one : all) {
    out.push_back(one.not_finite);
    for (const NamedNumber& metric : one.metrics) out.push_back(std::bit_cast<std::uint64_t>(metric.value));
    for (const NamedNumbers& list : one.distributions)
      for (const double value : list.values) out.push_back(std::bit_cast<std::uint64_t>(value));
  }
  return out;
}

std::string why(const std::function<void()>& what) {
  try {
    what();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

class LatentMeasurerOnCuda : public testing::Test {
 protected:
  static Device device(int index = 0) {
    std::string reason;
    return list_devices(DeviceKind::cuda, reason).at(static_cast<std::size_t>(index));
  }
  ArrayView host() { return {made_.bytes().data(), kFloat16, {kLatents, 4, 2, 8, 10}, {}, MemoryKind::host, 0}; }
  // Copies the latents to the device's memory, as another library of the caller would.
  ArrayView there(Accelerator& theirs, DeviceBuffer<std::byte>& buffer, std::int32_t ordinal = 0) {
    buffer = {theirs, made_.bytes().size(), "latents"};
    Queue(theirs).upload(std::span<const std::byte>(made_.bytes()), buffer);
    ArrayView out = host();
    out.data = reinterpret_cast<void*>(buffer.memory()->handle);
    out.memory = MemoryKind::device;
    out.device = ordinal;
    return out;
  }
  std::vector<std::uint64_t> by_cpu() {
    return bits(LatentMeasurer(LatentOptions{.device = "cpu"}).measure_all(host()));
  }

  static constexpr std::int64_t kLatents = 5;
  latents::SyntheticLatents made_{{4, 2, 8, 10}, true, kLatents, 3};
  const FakeCuda fake_;
  Budget budget_{1_GiB};
  Trace trace_;
  Accelerator theirs_{device(), {}, budget_, trace_};
};

TEST_F(LatentMeasurerOnCuda, EveryPlaceGivesTheSameNumbers) {
  DeviceBuffer<std::byte> buffer;
  const ArrayView on_device = there(theirs_, buffer);
  for (const char* name : {"cuda", "cuda:0", "auto"}) {
    SCOPED_TRACE(name);
    LatentMeasurer measurer(LatentOptions{.device = name});
    EXPECT_EQ(bits(measurer.measure_all(on_device)), by_cpu());
    EXPECT_EQ(bits(measurer.measure_all(host())), by_cpu());
    ArrayView one = on_device;
    one.shape.erase(one.shape.begin());
    const std::vector<std::uint64_t> alone = bits({measurer.measure(one)});
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), by_cpu().begin()));
    // A device that no hardware has attested measures nothing with "auto": the CPU measures copies of its memory.
    const bool by_itself = std::string(name) == "auto";
    const LatentDeviceUse use = measurer.device_use();
    EXPECT_EQ(use.measured, by_itself ? 0U : 2U * kLatents + 1);
    EXPECT_EQ(use.by_cpu, by_itself ? kLatents + 1U : 0U);
    EXPECT_EQ(use.compared, by_itself ? 0U : 5U);
    EXPECT_EQ(use.why.find("nobody has attested") != std::string::npos, by_itself) << use.why;
    EXPECT_NE(use.device.find("cuda:0 (Fake GPU A)"), std::string::npos) << use.device;
  }
  EXPECT_EQ(fake_.violations(), "");
}

TEST_F(LatentMeasurerOnCuda, AnyTypeAndStridesFromTheHost) {
  std::vector<double> wide;
  const auto* halves = reinterpret_cast<const std::uint16_t*>(made_.bytes().data());
  for (std::size_t i = 0; i < made_.bytes().size() / 2; ++i) wide.push_back(halves[i] * 0.01 - 300);
  ArrayView view = view_of(wide.data(), {kLatents, 4, 2, 10, 8});
  view.strides = {640, 160, 80, 1, 10};
  LatentMeasurer on_device(LatentOptions{.device = "cuda"}), on_cpu;
  EXPECT_EQ(bits(on_device.measure_all(view)), bits(on_cpu.measure_all(view)));
  EXPECT_EQ(on_device.device_use().measured, 0U + kLatents);
}

#ifdef MILLRACE_ATTESTED
// Latents are attested for the second card in this build: `auto` measures on it what lies there, and nowhere else.
TEST_F(LatentMeasurerOnCuda, AutoMeasuresWhereItIsAttested) {
  Accelerator second(device(1), {}, budget_, trace_);
  DeviceBuffer<std::byte> here, other;
  LatentMeasurer measurer;
  EXPECT_EQ(bits(measurer.measure_all(there(second, other, device(1).ordinal))), by_cpu());
  EXPECT_EQ(measurer.device_use().measured, 0U + kLatents);
  EXPECT_EQ(measurer.device_use().why, "");
  EXPECT_EQ(bits(measurer.measure_all(there(theirs_, here))), by_cpu());
  EXPECT_EQ(bits(measurer.measure_all(host())), by_cpu());
  EXPECT_EQ(measurer.device_use().measured, 0U + kLatents);
  EXPECT_EQ(measurer.device_use().by_cpu, 0U + kLatents);
}
#endif

TEST_F(LatentMeasurerOnCuda, AWrongAnswerIsTheCpusAndReported) {
  // The known answers are right; the last launch fails once.
  std::uint64_t launches = 0;
  {
    const FakeCuda fake;
    LatentMeasurer(LatentOptions{.device = "cuda"}).measure_all(host());
    launches = fake.calls("launch");
  }
  const FakeCuda fake({"forward", "launch:" + std::to_string(launches) + "=wrong", ""});
  Accelerator theirs(device(), {}, budget_, trace_);
  DeviceBuffer<std::byte> buffer;
  LatentMeasurer measurer(LatentOptions{.device = "cuda"});
  EXPECT_EQ(bits(measurer.measure_all(there(theirs, buffer))), by_cpu());
  EXPECT_NE(measurer.device_use().why, "");
  EXPECT_EQ(measurer.device_use().by_cpu, 0U + kLatents);
}

TEST_F(LatentMeasurerOnCuda, WhatCannotBeIsRefused) {
  DeviceBuffer<std::byte> buffer;
  const ArrayView on_device = there(theirs_, buffer);
  EXPECT_NE(why([] { LatentMeasurer(LatentOptions{.device = "cuda:7"}); }).find("found 2 devices of this kind"),
            std::string::npos);
  EXPECT_NE(why([] { LatentMeasurer(LatentOptions{.verify_device = "some"}); }).find("all, sample, none"),
            std::string::npos);
  LatentMeasurer cpu(LatentOptions{.device = "cpu"}), any;
  EXPECT_NE(why([&] { cpu.measure_all(on_device); }).find("latents are measured on cpu"), std::string::npos);
  ArrayView view = on_device;
  view.shape.front() = kLatents + 1;
  EXPECT_NE(why([&] { any.measure_all(view); }), "") << "longer than what lies there";
  view = on_device;
  view.type = kFloat64;
  view.shape = {4, 2, 8, 10};
  EXPECT_NE(why([&] { any.measure(view); }).find("in device memory"), std::string::npos);
  view = on_device;
  view.device = 5;
  EXPECT_NE(why([&] { any.measure_all(view); }).find("CUDA device 5"), std::string::npos);
  view = host();
  view.shape = {2, 8, 10};
  EXPECT_NE(why([&] { any.measure_all(view); }), "");
  view.shape = {0, 4, 2, 8, 10};
  EXPECT_TRUE(any.measure_all(view).empty());
}

}  // namespace
}  // namespace millrace
