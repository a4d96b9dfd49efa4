#include "src/kernels/rle_deflate/deflate_test_vectors.h"

#include <algorithm>

#include "src/kernels/rle_deflate/deflate_device.h"
#include "src/kernels/test_vectors/inputs.h"

namespace millrace::rle_deflate {

std::vector<std::uint8_t> make_planes(std::size_t count, int width, int height, std::uint64_t seed) {
  test_vectors::Random random(seed);
  const std::size_t area = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  std::vector<std::uint8_t> out(count * area, 0);
  for (std::size_t k = 1; k < count; ++k) {
    const bool full = k + 1 == count;
    for (std::size_t at = k * area; at < (k + 1) * area;) {
      const int most = random.below(4) == 0 ? 300 : 12;
      const std::size_t end = std::min((k + 1) * area, at + 1 + static_cast<std::size_t>(random.below(most)));
      const auto level = static_cast<std::uint8_t>(random.below(3) == 0 ? 255 : 1 + random.below(255));
      const bool background = !full && random.below(2) == 0, same = random.below(2) == 0;
      for (; at < end; ++at) out[at] = background ? 0 : same ? level : static_cast<std::uint8_t>(1 + random.below(255));
    }
  }
  return out;
}

rle::Image picture_of(const std::uint8_t* plane, int width, int height) {
  rle::Image out;
  out.begin(width, height);
  for (int y = 0; y < height; ++y) {
    out.begin_row();
    for (int x = 0; x < width; ++x, ++plane) {
      if (*plane != 0) out.add_literal(x, *plane);
    }
  }
  out.finish();
  return out;
}

DeflateCode make_code(const std::vector<std::uint8_t>& planes, int width, int height, const StreamLayout& layout) {
  SymbolHistogram histogram;
  const std::size_t area = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  for (std::size_t at = 0; at < planes.size(); at += area) {
    histogram.count(picture_of(planes.data() + at, width, height), layout);
  }
  return {histogram, layout};
}

namespace {

bool gives_right_streams(Accelerator& accelerator, std::size_t count, int width, int height, std::uint64_t seed,
                         std::uint8_t flip, rle::SampleDepth depth) {
  const std::size_t area = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  Budget budget(256_MiB);
  Queue queue(accelerator);
  const std::vector<std::uint8_t> planes = make_planes(count, width, height, seed);
  DeviceBuffer<std::uint8_t> there(accelerator, planes.size(), "pictures");
  std::vector<std::uint8_t> flipped = planes;
  for (std::uint8_t& level : flipped) level ^= flip;
  queue.upload(std::span<const std::uint8_t>(flipped), there);
  for (const Wrapper wrapper : {Wrapper::zlib, Wrapper::gzip}) {
    const rle::ColourTable colours = rle::colour_table({255, 254, 253}, {0, 30, 60});
    const bool rgb = wrapper == Wrapper::gzip;
    const StreamLayout layout{rle::encoded_levels(colours, rgb ? 3 : 1, depth), !rgb, wrapper};
    const DeflateCode code = make_code(planes, width, height, layout);
    DeviceEncoder encoder(code, width, height, flip);
    const EncodedStreams streams = encoder.encode(accelerator, queue, there, 0, count, budget);
    for (std::size_t k = 0; k < count; ++k) {
      Buffer<std::uint8_t> memory;
      const auto truth = code.compress(picture_of(planes.data() + k * area, width, height), memory);
      const auto found = streams.of(k);
      if (!std::equal(truth.begin(), truth.end(), found.begin(), found.end())) return false;
    }
  }
  return true;
}

}  // namespace

bool gives_known_answers(Accelerator& accelerator) {
  try {
    return gives_right_streams(accelerator, 4, 301, 9, 7, 0, rle::SampleDepth::bytes);
  } catch (const OutOfMemory&) {
    // Counts like a batch that is too large, which is no fault of the device.
    DeviceCounts short_of_memory;
    short_of_memory.halved = 1;
    accelerator.add(short_of_memory);
    return false;
  }
}

bool agrees_with_cpu(Accelerator& accelerator, const Executor& /*executor*/, std::uint64_t round) {
  test_vectors::Random random = test_vectors::make_random(round);
  const int size = test_vectors::round_size(round);
  for (const int widest : {8, 40}) {
    const auto count = 2 + static_cast<std::size_t>(random.below(6));
    const int width = 1 + random.below(widest * size), height = 1 + random.below(16 * size);
    const auto flip = static_cast<std::uint8_t>(random.below(2) == 1 ? 255 : 0);
    const rle::SampleDepth depth = random.below(2) == 1 ? rle::SampleDepth::floats : rle::SampleDepth::bytes;
    if (!gives_right_streams(accelerator, count, width, height, random.next64(), flip, depth)) return false;
  }
  return true;
}

}  // namespace millrace::rle_deflate
