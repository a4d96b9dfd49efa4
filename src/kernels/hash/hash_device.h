// Input: the kinds of hashes, and decoded pictures in the host's memory, each with its own size, channels and stride.
// Output: their hashes, computed on a device: bit for bit those of PictureHasher (hash.h).
// Never: returns with a hash that neither the CPU has made nor a check stands behind (src/device/batches.h).
//
// Luma, every pass of a resize, DCT sums, the cells of whash, colorhash's counts and PDQ's filter and DCT are the
// device's; medians and bits are made on the host of the device's numbers. On the device, beside a picture's pixels:
// one byte a pixel for luma, one output a row and target between passes, and eight bytes a pixel where PDQ is asked
// for.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "src/device/accelerator.h"
#include "src/device/cpu/executor.h"
#include "src/kernels/hash/hash.h"
#include "src/kernels/hash/hash_batch.h"

namespace millrace::hashes {

// As the CPU hashes it.
PictureHashes hashed_by_cpu(const HashRequest& request, const DecodedPicture& picture);

// Hashes pictures for one request; holds what it needs on the device from one call to the next. One thread at a time.
class DeviceHasher {
 public:
  // All outlive it; the budget pays for what it holds on the host. Failure(usage) as check(request) has it.
  DeviceHasher(const HashRequest& request, const Executor& executor, Accelerator& accelerator, Budget& budget);
  ~DeviceHasher();
  DeviceHasher(const DeviceHasher&) = delete;
  DeviceHasher& operator=(const DeviceHasher&) = delete;

  // Of all pictures, in their order, which stay as they are meanwhile. What the device cannot do, or did wrong, the CPU
  // does. Failure(cancelled) where the executor is.
  std::vector<PictureHashes> hash(std::span<const DecodedPicture> pictures);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace::hashes
