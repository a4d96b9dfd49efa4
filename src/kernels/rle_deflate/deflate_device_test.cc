// Compares streams of every device of this machine with the CPU's, each batch three times on the same buffers.
#include "src/kernels/rle_deflate/deflate_device.h"

#include <gtest/gtest.h>

#include "src/device/operation_for_test.h"
#include "src/kernels/rle_deflate/deflate_test_vectors.h"
#include "src/kernels/rle_deflate/pixels_for_test.h"

namespace millrace::rle_deflate {
namespace {

class StreamsOnDevice : public OperationOnDevice {
 protected:
  StreamsOnDevice() : OperationOnDevice(48_MiB) {}

  void TearDown() override {
    // Callers count batches; this test has no caller that does.
    DeviceCounts one;
    one.batches = 1;
    accelerator_->add(one);
    OperationOnDevice::TearDown();
  }

  // Compares images from number `first` on, whose bytes are levels, exclusive or `flip`.
  void expect_same(const StreamLayout& layout, int width, int height, std::uint64_t seed, std::uint8_t flip = 0,
                   std::size_t first = 0) {
    constexpr std::size_t kCount = 4;
    const std::size_t area = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    const std::vector<std::uint8_t> planes = make_planes(kCount, width, height, seed);
    const DeflateCode code = make_code(planes, width, height, layout);
    std::vector<std::uint8_t> flipped = planes;
    for (std::uint8_t& byte : flipped) byte ^= flip;
    Queue queue(*accelerator_);
    DeviceBuffer<std::uint8_t> there(*accelerator_, planes.size(), "pictures");
    queue.upload(std::span<const std::uint8_t>(flipped), there);
    DeviceEncoder encoder(code, width, height, flip);
    for (int again = 0; again < (is_slow() ? 1 : 3); ++again) {
      const EncodedStreams streams = encoder.encode(*accelerator_, queue, there, first, kCount - first, budget_);
      ASSERT_EQ(streams.size(), kCount - first);
      for (std::size_t k = first; k < kCount; ++k) {
        Buffer<std::uint8_t> memory;
        const auto truth = code.compress(picture_of(planes.data() + k * area, width, height), memory);
        const auto found = streams.of(k - first);
        EXPECT_TRUE(std::equal(truth.begin(), truth.end(), found.begin(), found.end()))
            << "picture " << k << " of " << width << " x " << height << ": " << found.size() << " bytes, the CPU's has "
            << truth.size();
      }
    }
  }
};

TEST_P(StreamsOnDevice, PixelsAndWrappersOfEveryKind) {
  std::uint64_t seed = 0;
  for (const rle::EncodedLevels& pixels : all_pixels()) {
    for (const bool row_prefix : {false, true}) {
      for (const Wrapper wrapper : {Wrapper::zlib, Wrapper::gzip}) {
        SCOPED_TRACE(fmt::format("{} bytes, prefix {}, gzip {}", pixels.bytes, row_prefix, wrapper == Wrapper::gzip));
        expect_same({pixels, row_prefix, wrapper}, 131, 7, ++seed);
      }
    }
  }
}

TEST_P(StreamsOnDevice, PicturesOfEveryShape) {
  for (const auto& [width, height] : {std::pair{1, 1}, std::pair{3, 2}, std::pair{1, 300}, std::pair{1201, 3},
                                      std::pair{16384, 2}, std::pair{64, 129}}) {
    if (is_slow() && width * height > 3000) continue;
    for (const Wrapper wrapper : {Wrapper::zlib, Wrapper::gzip}) {
      const bool row_prefix = wrapper == Wrapper::zlib && width % 2 == 1;
      expect_same({rle::encoded_levels(rle::gray_table(255, 0)), row_prefix, wrapper}, width, height, 3);
    }
  }
}

TEST_P(StreamsOnDevice, PicturesThatAreTurnedOverAndLieBehindOthers) {
  expect_same({}, 61, 11, 5, 255);
  expect_same({}, 61, 11, 6, 0, 2);
}

INSTANTIATE_TEST_SUITE_P(EveryDevice, StreamsOnDevice, testing::ValuesIn(devices_for_test()), device_test_name);

}  // namespace
}  // namespace millrace::rle_deflate
