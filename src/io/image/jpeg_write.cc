#include "src/io/image/jpeg_write.h"

#include <cstdlib>
#include <memory>
#include <string>

#include "src/base/error.h"
#include "src/io/image/jpeg_errors.h"

namespace millrace {
namespace {

struct Memory {
  unsigned char* data = nullptr;
  unsigned long bytes = 0;
};

// Holds no C++ object that a jump would skip. Returns false when libjpeg failed, with the message in `errors`.
bool encode(jpeg_compress_struct& info, JpegErrors& errors, int width, int height, int channels, int quality,
            const std::uint8_t* pixels, Memory& memory) {
  if (setjmp(errors.jump) != 0) return false;
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, &memory.data, &memory.bytes);
  info.image_width = static_cast<JDIMENSION>(width);
  info.image_height = static_cast<JDIMENSION>(height);
  info.input_components = channels;
  info.in_color_space = channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  // Chroma is not subsampled, because a thin coloured line would lose its colour.
  for (int c = 0; c < info.num_components; ++c) info.comp_info[c].h_samp_factor = info.comp_info[c].v_samp_factor = 1;
  jpeg_start_compress(&info, TRUE);
  const std::size_t row = static_cast<std::size_t>(width) * static_cast<std::size_t>(channels);
  while (info.next_scanline < info.image_height) {
    auto* line = const_cast<JSAMPROW>(pixels + info.next_scanline * row);
    jpeg_write_scanlines(&info, &line, 1);
  }
  jpeg_finish_compress(&info);
  return true;
}

}  // namespace

void append_jpeg(int width, int height, int channels, int quality, std::span<const std::uint8_t> pixels,
                 std::vector<std::uint8_t>& out) {
  jpeg_compress_struct info{};
  JpegErrors errors{};
  info.err = errors.set_up();
  Memory memory;
  const bool done = encode(info, errors, width, height, channels, quality, pixels.data(), memory);
  const std::unique_ptr<unsigned char, decltype(&std::free)> owned(memory.data, &std::free);
  jpeg_destroy_compress(&info);
  if (!done) throw Failure(ErrorCode::internal, std::string("the JPEG cannot be encoded: ") + errors.message);
  out.insert(out.end(), memory.data, memory.data + memory.bytes);
}

}  // namespace millrace
