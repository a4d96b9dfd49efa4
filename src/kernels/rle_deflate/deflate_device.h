// Input: pictures on a device, a byte a pixel, and the code that their streams are written in.
// Output: their streams in the host's memory: byte for byte those of Code::compress().
// Never: looks at what it made: who asks compares.
//
// On the device, beside pictures and streams: 40 bytes a row of pixels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/device/queue.h"
#include "src/kernels/rle_deflate/rle_deflate.h"
#include "src/memory/budget.h"

namespace millrace::rle_deflate {

// Of pictures, in their order.
struct Streams {
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint64_t> begins, lengths;
  Reservation paid;

  std::size_t size() const { return begins.size(); }
  std::span<const std::uint8_t> of(std::size_t picture) const {
    return std::span(bytes).subspan(begins[picture], lengths[picture]);
  }
};

// Holds what it needs on the device from one call to the next. One thread at a time.
class DeviceEncoder {
 public:
  // Of pictures of one size: width bytes a row, each of which is a level, exclusive or `flip`. `code` outlives it.
  DeviceEncoder(const Code& code, int width, int height, std::uint8_t flip);

  // Of `pictures` pictures, the first of which is number `first` of `planes`. OutOfMemory, DeviceLost;
  // Failure(internal) where blocks are missing.
  Streams encode(Accelerator& accelerator, Queue& queue, const DeviceBuffer<std::uint8_t>& planes, std::uint64_t first,
                 std::uint64_t pictures, Budget& budget);
  // What a picture takes of the device's memory, beside itself; its stream as long as a usual one.
  std::uint64_t bytes_each() const;

 private:
  void send(Accelerator& accelerator, Queue& queue, std::uint64_t pictures);

  const CodeTables tables_;
  std::vector<std::int32_t> numbers_;
  std::uint64_t rows_;  // of a picture
  bool has_tables_ = false;
  GrowingBuffer<std::int32_t> spec_;
  GrowingBuffer<std::uint32_t> codes_, header_, begins_, ends_, inks_, sums_, checks_, out_, done_;
  GrowingBuffer<std::uint64_t> weighted_, places_, papers_, tails_, lengths_, streams_;
};

}  // namespace millrace::rle_deflate
