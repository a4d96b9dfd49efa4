// Input: a batch and its layout.
// Output: its memory on a device, filled with pixels and records; its launched stages; the numbers that they computed.
// Never: makes hashes from these numbers. Used by hash_device.cc alone.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "src/device/cpu/executor.h"
#include "src/device/queue.h"
#include "src/device/staged_upload.h"
#include "src/kernels/hash/hash_batch.h"

namespace millrace::hashes {

// Numbers that the host gets from a batch.
struct BatchNumbers {
  std::vector<std::uint8_t> small;
  std::vector<double> low;
  std::vector<std::uint64_t> sums;
  std::vector<std::uint32_t> counters, gradients;
  std::vector<float> frequencies;  // PDQ's

  static std::uint64_t bytes(const BatchArraySizes& room);
};

class BatchMemory {
 public:
  BatchMemory(const HashRequest& request, Accelerator& accelerator);

  // Runs the stages on these pictures and returns their numbers. Throws OutOfMemory, after which nothing is held;
  // DeviceLost; Failure(internal) where blocks are missing.
  BatchNumbers run(const HashBatch& batch, std::span<const DecodedPicture> pictures, const Executor& executor);
  // Bytes of the device's memory that are held, and that a batch would use again.
  std::uint64_t held() const;
  // Downloads pixels of a reduced picture of the last batch.
  void download(std::uint64_t at, std::span<std::uint8_t> to);

 private:
  // Buffers that grow with the batches.
  struct Arrays {
    GrowingBuffer<std::uint8_t> pixels, luma, passed, reduced;
    GrowingBuffer<double> columns, low;
    GrowingBuffer<std::uint64_t> sums, records;
    GrowingBuffer<std::uint32_t> counters, axes, gradients;
    GrowingBuffer<float> plane, filtered_plane, strip, samples, frequencies;
    StagedUpload stages;
  };
  void make_room(const HashBatch& batch);
  void upload_pixels(const HashBatch& batch, std::span<const DecodedPicture> pictures, const Executor& executor);
  void launch(const HashBatch& batch);
  void check_blocks(const HashBatch& batch);
  BatchNumbers numbers(const HashBatch& batch);

  const HashRequest& request_;
  Accelerator& accelerator_;
  Arrays on_;
  DeviceBuffer<std::uint32_t> done_;
  DeviceBuffer<double> cosines_;
  DeviceBuffer<float> pdq_cosines_;
  bool has_tables_ = false;
  Queue queue_;
};

}  // namespace millrace::hashes
