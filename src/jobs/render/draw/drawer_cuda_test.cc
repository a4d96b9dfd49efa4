// Tests charts in the memory of a CUDA device, which is a simulated one (tests/support/gpu).
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <thread>
#include <vector>

#include "include/millrace/render.h"

#include "src/device/devices_for_test.h"
#include "src/device/queue.h"

namespace millrace {
namespace {

class ChartDrawerOnCuda : public testing::Test {
 protected:
  ChartDrawerOnCuda() {
    options_.rows = 20;
    options_.width = 61;
    options_.height = 33;
    for (std::size_t i = 0; i < kCharts * 20; ++i) {
      series_.push_back(100 + 10 * std::sin(0.7 * static_cast<double>(i * i % 97)));
    }
  }

  // Returns a device that belongs to another user in the same process.
  static Device device(int index = 0) {
    std::string reason;
    return list_devices(DeviceKind::cuda, reason).at(static_cast<std::size_t>(index));
  }
  template <typename T>
  ArrayView view(const DeviceBuffer<T>& buffer, std::vector<std::int64_t> shape) {
    ArrayView out = view_of(reinterpret_cast<T*>(buffer.memory()->handle), std::move(shape));
    out.memory = MemoryKind::device;
    return out;
  }
  ArrayView series() const { return view_of(series_.data(), {kCharts, 20}); }
  std::vector<std::int64_t> images_shape() const { return {kCharts, options_.height, options_.width}; }

  std::vector<std::uint8_t> by_cpu() const {
    ChartOptions options = options_;
    options.device = "cpu";
    std::vector<std::uint8_t> out(kBytes);
    ChartDrawer(options).draw(series(), view_of(out.data(), images_shape()));
    return out;
  }
  std::vector<std::uint8_t> read(const DeviceBuffer<std::uint8_t>& images) {
    std::vector<std::uint8_t> out(kBytes);
    Queue(theirs_).download(images, std::span<std::uint8_t>(out));
    return out;
  }
  static std::string why(const std::function<void()>& what) {
    try {
      what();
    } catch (const std::exception& e) {
      return e.what();
    }
    return "";
  }

  static constexpr std::int64_t kCharts = 11;
  static constexpr std::size_t kBytes = kCharts * 61 * 33;
  ChartOptions options_;
  std::vector<double> series_;
  const FakeCuda fake_;
  Budget budget_{1_GiB};
  Trace trace_;
  Accelerator theirs_{device(), {}, budget_, trace_};
};

TEST_F(ChartDrawerOnCuda, EveryPlaceOfSeriesAndImagesGivesTheSameCharts) {
  DeviceBuffer<std::uint8_t> images(theirs_, kBytes, "images");
  DeviceBuffer<double> there(theirs_, series_.size(), "series");
  Queue(theirs_).upload(std::span<const double>(series_), there);
  for (const char* name : {"cuda", "cuda:0", "auto"}) {
    SCOPED_TRACE(name);
    options_.device = name;
    const ChartDrawer drawer(options_);
    for (const bool from_device : {false, true}) {
      const ArrayView from = from_device ? view(there, {kCharts, 20}) : series();
      Queue(theirs_).fill(images, 0xEE);
      drawer.draw(from, view(images, images_shape()));
      EXPECT_EQ(read(images), by_cpu());
      std::vector<std::uint8_t> host(kBytes);
      drawer.draw(from, view_of(host.data(), images_shape()));
      EXPECT_EQ(host, by_cpu());
    }
    // With `auto`, a device that no hardware has attested draws nothing: the CPU draws, and its result is copied.
    const DeviceUse use = drawer.device_use();
    // (Between arrays of the host the CPU draws without asking a device.)
    const bool by_itself = std::string(name) == "auto";
    EXPECT_EQ(use.drawn, by_itself ? 0U : 4U * kCharts);
    EXPECT_EQ(use.by_cpu, by_itself ? 3U * kCharts : 0U);
    EXPECT_EQ(use.compared, by_itself ? 0U : 4U * 2);
    EXPECT_EQ(use.why.find("nobody has attested") != std::string::npos, by_itself) << use.why;
    EXPECT_NE(use.device.find("cuda:0 (Fake GPU A)"), std::string::npos) << use.device;
  }
  EXPECT_EQ(fake_.violations(), "");
}

// Arrays of CuPy and JAX may still be in use: their numbers are not there yet, and images are not cleared yet.
TEST_F(ChartDrawerOnCuda, WhatOthersHaveUnderWayComesFirst) {
  DeviceBuffer<std::uint8_t> images(theirs_, kBytes, "images");
  DeviceBuffer<double> there(theirs_, series_.size(), "series");
  const std::vector<std::uint8_t> noise(kBytes, 0xEE);
  options_.device = "cuda";
  const ChartDrawer drawer(options_);
  for (const double begin : {100.0, 70.0}) {
    for (double& price : series_) price += begin;
    EXPECT_EQ(fake_.upload_on_default_stream(there.memory()->handle, series_.data(), series_.size() * sizeof(double)),
              0);
    EXPECT_EQ(fake_.upload_on_default_stream(images.memory()->handle, noise.data(), kBytes), 0);
    drawer.draw(view(there, {kCharts, 20}), view(images, images_shape()));
    EXPECT_EQ(drawer.device_use().by_cpu, 0U) << "nothing was found to differ";
    EXPECT_EQ(read(images), by_cpu());
  }
  EXPECT_EQ(fake_.violations(), "");
}

#ifdef MILLRACE_ATTESTED
// Program in which charts are attested for the second card: `auto` draws there for arrays that are there, and nowhere
// else.
TEST_F(ChartDrawerOnCuda, AutoDrawsWhereItIsAttested) {
  Accelerator second(device(1), {}, budget_, trace_);
  DeviceBuffer<std::uint8_t> here(theirs_, kBytes, "images"), there(second, kBytes, "images");
  const ChartDrawer drawer(options_);
  ArrayView images = view(there, images_shape());
  images.device = device(1).ordinal;
  drawer.draw(series(), images);
  EXPECT_EQ(drawer.device_use().drawn, 0U + kCharts);
  EXPECT_EQ(drawer.device_use().why, "");
  std::vector<std::uint8_t> found(kBytes);
  Queue(second).download(there, std::span<std::uint8_t>(found));
  EXPECT_EQ(found, by_cpu());
  drawer.draw(series(), view(here, images_shape()));
  drawer.draw(series(), view_of(found.data(), images_shape()));
  EXPECT_EQ(read(here), by_cpu());
  EXPECT_EQ(drawer.device_use().drawn, 0U + kCharts);
  EXPECT_EQ(drawer.device_use().by_cpu, 0U + kCharts);
}
#endif

TEST_F(ChartDrawerOnCuda, AWrongAnswerIsTheCpusAndReported) {
  // The known answers are right; the first launch after them fails once.
  std::uint64_t launches = 0;
  {
    const FakeCuda fake;
    options_.device = "cuda";
    std::vector<std::uint8_t> host(kBytes);
    ChartDrawer(options_).draw(series(), view_of(host.data(), images_shape()));
    launches = fake.calls("launch");
  }
  const FakeCuda fake({"forward", "launch:" + std::to_string(launches) + "=wrong", ""});
  const ChartDrawer drawer(options_);
  std::vector<std::uint8_t> host(kBytes);
  drawer.draw(series(), view_of(host.data(), images_shape()));
  EXPECT_EQ(host, by_cpu());
  EXPECT_NE(drawer.device_use().why, "");
  EXPECT_EQ(drawer.device_use().by_cpu, 0U + kCharts);
  // The device is not used any more.
  host.assign(kBytes, 0);
  drawer.draw(series(), view_of(host.data(), images_shape()));
  EXPECT_EQ(host, by_cpu());
  EXPECT_EQ(drawer.device_use().by_cpu, 2U * kCharts);
}

TEST_F(ChartDrawerOnCuda, MemoryThatIsMappedPieceByPieceIsOne) {
  ::setenv("FAKE_CUDA_SEGMENT", "4096", 1);
  const FakeCuda fake;
  ::unsetenv("FAKE_CUDA_SEGMENT");
  Budget budget(1_GiB);
  Trace trace;
  Accelerator theirs(device(), {}, budget, trace);
  DeviceBuffer<std::uint8_t> images(theirs, kBytes, "images");
  options_.device = "cuda";
  const ChartDrawer drawer(options_);
  drawer.draw(series(), view(images, images_shape()));
  EXPECT_EQ(drawer.device_use().drawn, 0U + kCharts);
  ArrayView more = view(images, {2 * kCharts, options_.height, options_.width});
  const std::vector<double> twice(series_.size() * 2, 1.0);
  const std::string text = why([&] { drawer.draw(view_of(twice.data(), {2 * kCharts, 20}), more); });
  EXPECT_NE(text.find("bytes are allocated"), std::string::npos) << text;
}

TEST_F(ChartDrawerOnCuda, AsLittleMemoryAsIsAllowedCostsNoChart) {
  options_.device = "cuda";
  for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{100'000}, std::uint64_t{1'500'000}}) {
    SCOPED_TRACE(bytes);
    options_.device_memory = bytes;
    const ChartDrawer drawer(options_);
    std::vector<std::uint8_t> host(kBytes);
    drawer.draw(series(), view_of(host.data(), images_shape()));
    EXPECT_EQ(host, by_cpu());
    const DeviceUse use = drawer.device_use();
    EXPECT_EQ(use.drawn + use.by_cpu, 0U + kCharts);
    EXPECT_EQ(use.why.empty(), use.by_cpu == 0) << use.why;
  }
}

TEST_F(ChartDrawerOnCuda, ThreadsShareADrawer) {
  options_.device = "cuda";
  const ChartDrawer drawer(options_);
  const std::vector<std::uint8_t> truth = by_cpu();
  std::vector<std::vector<std::uint8_t>> all(6, std::vector<std::uint8_t>(kBytes));
  {
    std::vector<std::jthread> threads;
    for (std::vector<std::uint8_t>& one : all) {
      threads.emplace_back([&] {
        for (int again = 0; again < 3; ++again) {
          std::fill(one.begin(), one.end(), std::uint8_t{0xEE});
          drawer.draw(series(), view_of(one.data(), images_shape()));
        }
      });
    }
    EXPECT_EQ(drawer.device_use().why, "");
  }
  for (const std::vector<std::uint8_t>& one : all) EXPECT_EQ(one, truth);
  EXPECT_EQ(drawer.device_use().drawn, 0U + all.size() * 3 * kCharts);
}

// However draw() ends early, no part of it continues in the caller's memory.
TEST_F(ChartDrawerOnCuda, ALostDeviceThatImagesAreOnIsThrown) {
  options_.device = "cuda";
  for (int n = 1;; n += 5) {
    const FakeCuda fake({"forward", "launch:" + std::to_string(n) + "=lost", ""});
    Budget budget(1_GiB);
    Trace trace;
    Accelerator theirs(device(), {}, budget, trace);
    DeviceBuffer<std::uint8_t> images(theirs, kBytes, "images");
    std::string message = why([&] { ChartDrawer(options_).draw(series(), view(images, images_shape())); });
    EXPECT_EQ(fake.violations(), "");
    if (fake.calls("launch") < static_cast<std::uint64_t>(n)) {
      EXPECT_EQ(message, "");
      break;
    }
    EXPECT_NE(message.find("lost"), std::string::npos) << message;
  }
}

TEST_F(ChartDrawerOnCuda, ArraysThatAreElsewhereAreRefusedWithWords) {
  DeviceBuffer<std::uint8_t> images(theirs_, kBytes, "images"), few(theirs_, kBytes - 1, "few");
  const ChartDrawer drawer(options_);
  const auto refused = [&](const ArrayView& to, const std::string& words, const ChartDrawer& with) {
    const std::string text = why([&] { with.draw(series(), to); });
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  refused(view(few, images_shape()), "bytes are allocated", drawer);
  ArrayView nowhere = view(images, images_shape());
  nowhere.data = reinterpret_cast<void*>(std::uintptr_t{64});
  refused(nowhere, "no device memory found at its address", drawer);
  ArrayView other = view(images, images_shape());
  other.device = 2;  // the second that works
  refused(other, "it is on CUDA device 0; expected device 2", drawer);
  other.device = 7;
  refused(other, "images: it is on CUDA device 7: no such device was found", drawer);
  ArrayView many = view(images, images_shape());
  many.shape[0] = (std::int64_t{1} << 61) + 1;
  ArrayView many_series = series();
  many_series.shape[0] = many.shape[0];
  EXPECT_NE(why([&] { drawer.draw(many_series, many); }).find("do not fit into any memory"), std::string::npos);
  ArrayView odd = view(images, images_shape());
  odd.memory = static_cast<MemoryKind>(10);
  refused(odd, "memory of the kind 10", drawer);
  options_.device = "cpu";
  refused(view(images, images_shape()), "it is on CUDA device 0, and charts are drawn on cpu", ChartDrawer(options_));
  options_.device = "cuda:1";
  refused(view(images, images_shape()), "it is on CUDA device 0, and charts are drawn on cuda:1",
          ChartDrawer(options_));
  options_.device = "cuda:5";
  EXPECT_NE(why([&] { const ChartDrawer none(options_); }).find("device: 'cuda:5': "), std::string::npos);
  options_.device = "tpu";
  EXPECT_NE(why([&] { const ChartDrawer none(options_); }).find("tpu"), std::string::npos);
  options_ = {};
  options_.verify_device = "sometimes";
  EXPECT_NE(why([&] { const ChartDrawer none(options_); }).find("verify_device"), std::string::npos);
}

}  // namespace
}  // namespace millrace
