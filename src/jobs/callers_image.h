// Input: an image in memory, as a caller of the library has it.
// Output: rows of gray or RGB bytes, where they lie, or gathered where pixels do not lie side by side.
// Never: writes into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "include/millrace/array.h"
#include "src/memory/buffer.h"

namespace millrace {

// Failure(usage) with type and shape unless it is uint8 [height, width], [height, width, 1] or [height, width, 3] in
// host memory, with sides from 1 to 65,535. `name` is the caller's for it.
void check_image(const ArrayView& image, const std::string& name);
// Of each: "image" where there is one, else "image 17".
void check_images(std::span<const ArrayView> images, const std::string& name);

// Of one that was checked.
class CallersImage {
 public:
  explicit CallersImage(const ArrayView& image);
  // What it gathers: 0 where pixels lie side by side.
  static std::uint64_t bytes(const ArrayView& image);

  const std::uint8_t* data() const { return data_; }
  int width() const { return width_; }
  int height() const { return height_; }
  int channels() const { return channels_; }
  std::ptrdiff_t stride() const { return stride_; }  // bytes from a row to the next; below 0 where they lie upwards

 private:
  int width_ = 0, height_ = 0, channels_ = 1;
  const std::uint8_t* data_ = nullptr;
  std::ptrdiff_t stride_ = 0;
  Buffer<std::uint8_t> gathered_;
};

}  // namespace millrace
