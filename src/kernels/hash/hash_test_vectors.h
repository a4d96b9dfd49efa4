// Input: a device.
// Output: whether it hashes some pictures as the CPU does.
// Never: reads a file.
#pragma once

#include <cstdint>
#include <vector>

#include "src/device/accelerator.h"
#include "src/device/cpu/executor.h"
#include "src/kernels/hash/hash_batch.h"

namespace millrace::hashes {

// Generated pictures and their pixels.
class SyntheticPictures {
 public:
  // Adds a picture of edges, slopes and noise; a gray one takes one channel of it. Rows lie `gap` bytes apart.
  void add(int width, int height, int channels, std::uint64_t seed, int gap = 0);
  // Adds a picture of these pixels.
  void add(int width, int height, int channels, std::vector<std::uint8_t> pixels);
  std::vector<DecodedPicture> pictures() const;

 private:
  struct One {
    int width, height, channels;
    std::ptrdiff_t stride;
    std::vector<std::uint8_t> pixels;
  };
  std::vector<One> all_;
};

bool gives_known_answers(Accelerator& accelerator);
// Same test with pictures and hash sizes that are generated from the number of a round, and grow with it.
bool agrees_with_cpu(Accelerator& accelerator, const Executor& executor, std::uint64_t round);

}  // namespace millrace::hashes
