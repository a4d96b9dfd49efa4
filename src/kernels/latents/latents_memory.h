// Input: a batch of latents of one shape, in the host's memory or adjacent in the device's.
// Output: memory on a device, filled; stages, launched; the sums and counts that they made.
// Never: computes a number from these. Only latents_device.cc uses this file.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "src/device/cpu/executor.h"
#include "src/device/queue.h"
#include "src/device/staged_upload.h"
#include "src/kernels/latents/latents_batch.h"

namespace millrace::latents {

class BatchMemory {
 public:
  // Both arguments outlive the object.
  BatchMemory(const BatchPlan& plan, Accelerator& accelerator);

  // Runs the stages on latents of one type, in one kind of memory. Throws OutOfMemory, after which no memory is held;
  // DeviceLost; and Failure(internal) if blocks are missing.
  void run(std::span<const ArrayView> latents, const Executor& executor);
  // Results for a latent of the last batch.
  std::span<const double> sums(std::size_t latent);
  std::span<const std::uint32_t> counts(std::size_t latent);
  // Returns the bytes of the device's memory that it holds, and would use for the next batch.
  std::uint64_t held() const;

 private:
  // Buffers, each of which grows with the batches.
  struct Arrays {
    GrowingBuffer<std::uint8_t> values;
    GrowingBuffer<float> planes, moments, places, re, im, other_re, other_im, ranges, edges;
    GrowingBuffer<double> follow, images, rows, product_rows, sums;
    GrowingBuffer<std::uint32_t> counts;
    PinnedBuffer<double> host_sums;
    PinnedBuffer<std::uint32_t> host_counts;
    StagedUpload stages;
  };
  void make_room(std::uint64_t count, std::uint64_t uploaded);
  void make_tables();
  void upload(std::span<const ArrayView> latents, const Executor& executor);
  // Launches a stage with so many blocks, or with at least so many threads. Each thread gets the number of latents.
  template <typename... Arguments>
  void run_blocks(int stage, const KernelEntry& entry, std::uint64_t blocks, const Arguments&... arguments);
  template <typename... Arguments>
  void run_threads(int stage, const KernelEntry& entry, std::uint64_t threads, const Arguments&... arguments);
  void launch(const DeviceBuffer<std::uint8_t>& values);
  void launch_time(const DeviceBuffer<std::uint16_t>& halves, const DeviceBuffer<float>& singles);
  void launch_planes();
  void launch_patches();
  void launch_spectra();
  void launch_bins(const DeviceBuffer<std::uint16_t>& halves, const DeviceBuffer<float>& singles);
  void check_blocks();

  const BatchPlan& plan_;
  Accelerator& accelerator_;
  Arrays on_;
  DeviceBuffer<std::uint32_t> shape_, done_;
  DeviceBuffer<float> factors_, weights_, turns_;
  bool has_tables_ = false;
  std::uint32_t count_ = 0;                             // latents of this batch
  std::array<std::uint64_t, LATENTS_STAGES> blocks_{};  // blocks of this batch, by stage
  Queue queue_;
};

}  // namespace millrace::latents
