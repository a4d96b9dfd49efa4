// Input: the kinds of hashes, and decoded pictures in the host's memory, each with its own size, channels and stride.
// Output: their hashes, computed on a device: bit for bit those of PictureHasher (hash.h).
// Never: returns a hash that was neither computed by the CPU nor covered by a check (src/device/batches.h).
//
// The device computes luma, every pass of a resize, DCT sums, the cells of whash, colorhash's counts and PDQ's filter
// and DCT. The host makes medians and bits from the device's numbers. On the device, beside a picture's pixels: one
// byte a pixel for luma, one output per row and target between passes, and eight bytes a pixel where PDQ is requested.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "src/device/accelerator.h"
#include "src/device/cpu/executor.h"
#include "src/kernels/hash/hash.h"
#include "src/kernels/hash/hash_batch.h"

namespace millrace::hashes {

// Returns the hashes of a picture, computed by the CPU.
PictureHashes hash_on_cpu(const HashRequest& request, const DecodedPicture& picture);

// Hashes pictures for one request; holds what it needs on the device from one call to the next. One thread at a time.
class DeviceHasher {
 public:
  // Arguments outlive the hasher; the budget covers what it holds on the host. Throws Failure(usage) as check(request)
  // does.
  DeviceHasher(const HashRequest& request, const Executor& executor, Accelerator& accelerator, Budget& budget);
  ~DeviceHasher();
  DeviceHasher(const DeviceHasher&) = delete;
  DeviceHasher& operator=(const DeviceHasher&) = delete;

  // Returns the hashes of all pictures, in their order; the pictures must not change meanwhile. The CPU hashes what the
  // device cannot, or hashed wrongly. Throws Failure(cancelled) where the executor is cancelled.
  std::vector<PictureHashes> hash(std::span<const DecodedPicture> pictures);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace::hashes
