// Input: images on a device, one byte per pixel, and the code for their streams.
// Output: their streams in host memory, byte for byte those of Code::compress().
// Never: checks its results: the caller compares them.
//
// On the device it needs 40 bytes per row of pixels, besides images and streams.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/device/queue.h"
#include "src/kernels/rle_deflate/rle_deflate.h"
#include "src/memory/budget.h"

namespace millrace::rle_deflate {

// Streams of images, in their order.
struct EncodedStreams {
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint64_t> begins, lengths;
  Reservation reservation;

  std::size_t size() const { return begins.size(); }
  std::span<const std::uint8_t> of(std::size_t picture) const {
    return std::span(bytes).subspan(begins[picture], lengths[picture]);
  }
};

// Reuses its device memory from one call to the next. Used by one thread at a time.
class DeviceEncoder {
 public:
  // Encodes images of one size: `width` bytes per row, each of which is a level, exclusive or `flip`. `code` must
  // outlive it.
  DeviceEncoder(const DeflateCode& code, int width, int height, std::uint8_t flip);

  // Encodes `pictures` images, starting with number `first` of `planes`. Throws OutOfMemory, DeviceLost, and
  // Failure(internal) if blocks were left out.
  EncodedStreams encode(Accelerator& accelerator, Queue& queue, const DeviceBuffer<std::uint8_t>& planes,
                        std::uint64_t first, std::uint64_t pictures, Budget& budget);
  // Returns the device memory for one image besides its pixels, with a stream of usual length.
  std::uint64_t bytes_each() const;

 private:
  void send(Accelerator& accelerator, Queue& queue, std::uint64_t pictures);

  const CodeTables tables_;
  std::vector<std::int32_t> numbers_;
  std::uint64_t rows_;  // rows of one image
  bool has_tables_ = false;
  GrowingBuffer<std::int32_t> spec_;
  GrowingBuffer<std::uint32_t> codes_, header_, begins_, ends_, foregrounds_, sums_, checks_, out_, done_;
  GrowingBuffer<std::uint64_t> weighted_, places_, backgrounds_, tails_, lengths_, streams_;
};

}  // namespace millrace::rle_deflate
