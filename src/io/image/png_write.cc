#include "src/io/image/png_write.h"

#include <png.h>

#include <cstring>
#include <vector>

#include "src/io/file/atomic_file.h"

namespace millrace {

void write_png(const std::string& path, int width, int height, int channels, std::span<const std::uint8_t> pixels) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  png_alloc_size_t bytes = 0;
  std::vector<char> out;
  bool done = png_image_write_get_memory_size(image, bytes, 0, pixels.data(), 0, nullptr) != 0;
  if (done) {
    out.resize(bytes);
    done = png_image_write_to_memory(&image, out.data(), &bytes, 0, pixels.data(), 0, nullptr) != 0;
  }
  if (!done) throw Failure(ErrorCode::internal, std::string("the PNG could not be made: ") + image.message, path);
  AtomicFile file(path);
  file.write({out.data(), bytes});
  file.commit();
}

}  // namespace millrace
