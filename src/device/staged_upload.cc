#include "src/device/staged_upload.h"

#include <algorithm>

namespace millrace {
namespace {

constexpr std::uint64_t kChunkBytes = std::uint64_t{8} << 20, kMinChunkBytes = std::uint64_t{256} << 10;
// Smallest number of bytes that one thread fills at a time.
constexpr std::size_t kGrain = std::size_t{1} << 18;

}  // namespace

void StagedUpload::make_room(Accelerator& accelerator, std::uint64_t bytes, const std::string& purpose) {
  for (PinnedBuffer<std::uint8_t>& piece : chunks_) {
    // Chunks become smaller if the host has little memory, which is no fault of the device.
    for (std::uint64_t size = std::min(kChunkBytes, bytes); piece.size() < size;) {
      try {
        piece = PinnedBuffer<std::uint8_t>(accelerator, size, purpose);
      } catch (const OutOfMemory&) {
        if (size <= kMinChunkBytes) throw;
        size = std::max(kMinChunkBytes, size / 2);
        if (piece.size() >= kMinChunkBytes) break;
      }
    }
  }
}

void StagedUpload::run(Queue& queue, const Executor& executor, std::uint64_t all, DeviceBuffer<std::uint8_t>& to,
                       const std::function<void(std::uint64_t, std::uint64_t, std::uint8_t*)>& put) {
  std::size_t which = 0;
  for (std::uint64_t at = 0; at < all; which ^= 1) {
    PinnedBuffer<std::uint8_t>& piece = chunks_.at(which);
    const std::uint64_t size = std::min<std::uint64_t>(piece.size(), all - at);
    std::uint8_t* out = piece.span().data();
    executor.parallel_for(size, kGrain,
                          [&](std::size_t begin, std::size_t end) { put(at + begin, at + end, out + begin); });
    queue.finish();  // waits for the copy of the other chunk
    queue.upload(piece, size, to, at);
    at += size;
  }
}

}  // namespace millrace
