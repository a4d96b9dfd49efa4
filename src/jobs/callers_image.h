// Input: an image in memory, as a caller of the library passes it.
// Output: rows of gray or RGB bytes: in place if their pixels are contiguous, else in a contiguous copy.
// Never: writes into the caller's image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "include/millrace/array.h"
#include "src/memory/buffer.h"

namespace millrace {

// Throws Failure(usage) unless the image is uint8 [height, width], [height, width, 1] or [height, width, 3] in host
// memory. Its sides have 1 to 65,535 pixels. The message has the type and the shape found. `name` is the caller's name
// for it.
void check_image(const ArrayView& image, const std::string& name);
// Checks each image. Messages call a single one "image", and several "image 17" with their index.
void check_images(std::span<const ArrayView> images, const std::string& name);

// View of an image that was checked.
class CallersImage {
 public:
  explicit CallersImage(const ArrayView& image);
  // Returns the bytes of the copy that the constructor makes: 0 if pixels are contiguous.
  static std::uint64_t bytes(const ArrayView& image);

  const std::uint8_t* data() const { return data_; }
  int width() const { return width_; }
  int height() const { return height_; }
  int channels() const { return channels_; }
  std::ptrdiff_t stride() const { return stride_; }  // bytes from row to row; negative if stored bottom up

 private:
  int width_ = 0, height_ = 0, channels_ = 1;
  const std::uint8_t* data_ = nullptr;
  std::ptrdiff_t stride_ = 0;
  Buffer<std::uint8_t> gathered_;
};

}  // namespace millrace
