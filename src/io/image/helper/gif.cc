// GIF decoder by giflib: the first frame on its canvas. Transparent pixels keep the colour of their index, unless they
// are blended with gray.
#include <gif_lib.h>
#include <unistd.h>

#include <algorithm>

#include "src/base/error.h"
#include "src/io/image/helper/decoder.h"
#include "src/io/image/picture.h"

namespace millrace::helper {
namespace {

struct Colors {
  std::uint8_t rgb[256][3] = {};
  bool gray = true;
};

Colors colors_of(const ColorMapObject* map) {
  Colors colors;
  for (int i = 0; i < 256; ++i) {
    if (map == nullptr) {
      // Without any colour table, indexes are levels of gray.
      std::fill_n(colors.rgb[i], 3, static_cast<std::uint8_t>(i));
    } else if (i < map->ColorCount) {
      colors.rgb[i][0] = map->Colors[i].Red;
      colors.rgb[i][1] = map->Colors[i].Green;
      colors.rgb[i][2] = map->Colors[i].Blue;
    }
    if (colors.rgb[i][0] != colors.rgb[i][1] || colors.rgb[i][1] != colors.rgb[i][2]) colors.gray = false;
  }
  return colors;
}

// Reads extensions up to the first frame; false at the end of the file. Sets the transparent index, if there is one.
bool find_frame(GifFileType* gif, int& transparent) {
  GifRecordType record{};
  while (DGifGetRecordType(gif, &record) == GIF_OK) {
    if (record == IMAGE_DESC_RECORD_TYPE) return DGifGetImageDesc(gif) == GIF_OK;
    if (record == TERMINATE_RECORD_TYPE) return false;
    int code = 0;
    GifByteType* block = nullptr;
    if (record == EXTENSION_RECORD_TYPE) {
      if (DGifGetExtension(gif, &code, &block) != GIF_OK) return false;
      if (code == GRAPHICS_EXT_FUNC_CODE && block != nullptr) {
        GraphicsControlBlock control{};
        if (DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK) transparent = control.TransparentColor;
      }
      while (block != nullptr) {
        if (DGifGetExtensionNext(gif, &block) != GIF_OK) return false;
      }
    }
  }
  return false;
}

}  // namespace

void decode_gif(const DecodeJob& job, DecoderChannel& channel) {
  int error = 0;
  // giflib closes the descriptor that it is given, so it gets a duplicate.
  GifFileType* gif = DGifOpenFileHandle(::dup(job.fd), &error);
  const auto bad = [&](const char* fallback) {
    const char* why = GifErrorString(gif != nullptr ? gif->Error : error);
    channel.fail(static_cast<int>(ErrorCode::bad_data), why != nullptr ? why : fallback);
    if (gif != nullptr) DGifCloseFile(gif, nullptr);
  };
  if (gif == nullptr) return bad("not a valid GIF");
  int transparent = NO_TRANSPARENT_COLOR;
  if (!find_frame(gif, transparent)) return bad("the GIF has no frame");
  const GifImageDesc& frame = gif->Image;
  // Some writers make the canvas smaller than its first frame.
  const int width = std::max(gif->SWidth, frame.Left + frame.Width);
  const int height = std::max(gif->SHeight, frame.Top + frame.Height);
  if (width <= 0 || height <= 0 || frame.Width <= 0 || frame.Height <= 0) return bad("its width or height is 0");
  const Colors colors = colors_of(frame.ColorMap != nullptr ? frame.ColorMap : gif->SColorMap);
  const std::size_t area = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);

  DecoderMessage about{};
  about.width = about.full_width = width;
  about.height = about.full_height = height;
  about.channels = colors.gray ? 1 : 3;
  about.exact = 1;
  about.decoder_memory = area + area * static_cast<std::uint64_t>(about.channels) + (1U << 20);
  if (!channel.begin(about)) {
    DGifCloseFile(gif, nullptr);
    return;
  }
  std::vector<std::uint8_t> canvas(area,
                                   transparent == NO_TRANSPARENT_COLOR ? 0 : static_cast<std::uint8_t>(transparent));
  std::vector<std::uint8_t> line(static_cast<std::size_t>(frame.Width));
  static constexpr int kFirst[4] = {0, 4, 2, 1};
  static constexpr int kStep[4] = {8, 8, 4, 2};
  bool damaged = false;
  int lines = 0;
  for (int pass = 0; pass < (frame.Interlace ? 4 : 1) && !damaged; ++pass) {
    const int first = frame.Interlace ? kFirst[pass] : 0;
    const int step = frame.Interlace ? kStep[pass] : 1;
    for (int y = first; y < frame.Height; y += step) {
      if (DGifGetLine(gif, line.data(), frame.Width) != GIF_OK) {
        damaged = true;
        break;
      }
      ++lines;
      std::copy(line.begin(), line.end(),
                canvas.begin() + static_cast<std::ptrdiff_t>(frame.Top + y) * width + frame.Left);
    }
  }
  if (lines == 0) return bad("the file is truncated before its first pixel");
  std::vector<std::uint8_t> pixels(area * static_cast<std::size_t>(about.channels));
  for (std::size_t i = 0; i < area; ++i) {
    for (int c = 0; c < about.channels; ++c) {
      const int alpha = job.over_gray && canvas[i] == transparent ? 0 : 255;
      pixels[i * static_cast<std::size_t>(about.channels) + static_cast<std::size_t>(c)] =
          blend_sample_with_gray(colors.rgb[canvas[i]][c], alpha);
    }
  }
  UnshownData unshown;
  unshown.transparency =
      transparent != NO_TRANSPARENT_COLOR && std::find(canvas.begin(), canvas.end(), transparent) != canvas.end();
  unshown.frames = find_frame(gif, transparent);
  DGifCloseFile(gif, nullptr);
  if (send_plane(channel, pixels.data(), static_cast<std::size_t>(width) * static_cast<std::size_t>(about.channels),
                 width, height, about.channels, about.channels)) {
    channel.end(damaged, damaged ? "the file is truncated in its first frame" : "", unshown);
  } else {
    channel.end(true, "cancelled");
  }
}

}  // namespace millrace::helper
