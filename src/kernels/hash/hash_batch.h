// Input: the kinds of hashes, and pictures of all sizes.
// Output: the positions of each picture's data in the memory that a batch shares on a device, and for every stage the
// records that assign its blocks to pictures.
// Never: touches a device, or a pixel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "src/kernels/hash/body/layout.inc"
#include "src/kernels/hash/hash.h"
#include "src/kernels/hash/hash_steps.h"

namespace millrace::hashes {

// A picture in the host's memory.
struct DecodedPicture {
  const std::uint8_t* data = nullptr;
  int width = 0, height = 0;  // 1 to 65,535
  std::ptrdiff_t stride = 0;  // bytes from a row to the next
  int channels = 3;           // 1 (gray) or 3 (RGB), 8 bits each

  std::size_t row_bytes() const { return static_cast<std::size_t>(width) * static_cast<std::size_t>(channels); }
  std::uint64_t pixels() const { return static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height); }
};

// Number of elements of each array that a picture, or a batch, takes; or the positions where a picture's begin.
struct BatchArraySizes {
  std::uint64_t pixels = 0;    // bytes of pixels, as they came
  std::uint64_t luma = 0;      // bytes
  std::uint64_t passed = 0;    // bytes between the two passes of resizes
  std::uint64_t small = 0;     // bytes of reduced pictures that the host takes
  std::uint64_t squares = 0;   // bytes of reduced pictures that it does not take
  std::uint64_t columns = 0;   // f64 between the two steps of a DCT
  std::uint64_t low = 0;       // f64, its coefficients
  std::uint64_t sums = 0;      // u64, sums of cells
  std::uint64_t counters = 0;  // u32, counters of colours
  std::uint64_t plane = 0;     // f32 between the steps of PDQ's filter, twice
  std::uint64_t strip = 0;     // f32 of sampled columns
  std::uint64_t filtered = 0;  // pictures that are filtered
  std::uint64_t axes = 0;      // u32: an upper bound

  BatchArraySizes& operator+=(const BatchArraySizes& more);
  // Bytes on the device.
  std::uint64_t bytes() const;
};

// Returns the sizes that a picture is reduced to; true for those that the host takes.
std::map<ResizeTarget, bool> targets_of(const HashRequest& request, const DecodedPicture& picture);
bool is_filtered(const HashRequest& request, const DecodedPicture& picture);
BatchArraySizes batch_array_sizes_of(const HashRequest& request, const DecodedPicture& picture);

// Positions where a picture's data begin.
struct PicturePlacement {
  BatchArraySizes at;
  std::map<ResizeTarget, std::uint64_t> reduced;
  bool filtered = false;
};

// Launch of one stage.
struct BatchStage {
  std::uint64_t first = 0, blocks = 0;  // its first record, and its number of blocks
  std::uint32_t records = 0;
};

class HashBatch {
 public:
  HashBatch(const HashRequest& request, std::span<const DecodedPicture> pictures);

  std::vector<PicturePlacement> placed;
  BatchArraySizes room;                // room of all pictures; `small` lies before `squares` in one array
  std::vector<std::uint64_t> records;  // stage after stage
  std::array<BatchStage, HASH_STAGES> stages;
  std::vector<std::uint32_t> axes;

  // Returns an upper bound of the host's memory, before a batch is made, for so many pictures of so much room.
  static std::uint64_t bytes(const BatchArraySizes& room, std::size_t pictures);

 private:
  // Position of an axis in `axes`, and number of weights of an output.
  struct Axis {
    std::uint64_t at = 0, taps = 0;
  };
  const Axis& axis(int in, int out);
  // Adds a record to a stage, for so many items, `each` to a block.
  void add(int stage, std::uint64_t items, std::uint64_t each, std::initializer_list<std::pair<int, std::uint64_t>> of);
  void add_luma(const DecodedPicture& picture, const PicturePlacement& at, bool keeps, bool counted);
  void add_resize(const DecodedPicture& picture, ResizeTarget target, std::uint64_t from, std::uint64_t between,
                  std::uint64_t to);
  void add_pass(int stage, ResizeTarget from, ResizeTarget to, bool vertical, bool luma, std::uint64_t input,
                std::uint64_t output);
  void add_box(const DecodedPicture& picture, const PicturePlacement& at);
  void add_transforms(const HashRequest& request, const DecodedPicture& picture, const PicturePlacement& at);
  void gather();

  struct Pending {
    std::vector<std::uint64_t> records;
    std::uint64_t blocks = 0;
  };
  std::array<Pending, HASH_STAGES> pending_;
  std::map<std::pair<int, int>, Axis> axes_at_;
};

}  // namespace millrace::hashes
