// Input: a picture file, read from front to back.
// Output: its rows as 8-bit gray or RGB, handed to a sink while they are decoded, and facts about it; or an error.
// Never: applies the EXIF orientation, which is only reported; converts colour profiles; keeps the pixels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "src/base/choice.h"
#include "src/base/error.h"
#include "src/base/sizes.h"
#include "src/io/file/file_reader.h"
#include "src/io/image/exif.h"
#include "src/io/image/extra_data.h"

namespace millrace {

enum class ImageFormat : std::uint8_t { unknown, jpeg, png, gif, bmp, pnm, tiff, webp, heif, jxl, jp2, raw };
const char* name_of(ImageFormat format);

// Recognises a format by the file's first bytes. The extension only decides which files are RAW.
ImageFormat sniff_format(std::span<const std::uint8_t> head, std::string_view path);
// True for a name that a scan should open: a picture's extension in upper or lower case.
bool has_picture_extension(std::string_view path);
// True for a name whose file is read as RAW, if it looks like a TIFF or like no known format.
bool has_raw_extension(std::string_view path);

struct PictureInfo {
  ImageFormat format = ImageFormat::unknown;
  int width = 0, height = 0;            // size of the rows that follow
  int full_width = 0, full_height = 0;  // as stored, before any reduced decoding
  int channels = 3;                     // 1 gray, 3 RGB
  // True where the format defines its pixels and they are decoded in full. Then hashes equal those of any correct
  // decoder.
  bool exact = true;
  // True for gray of more than 8 bits, or floating point, where values over 255 become 255, as in Pillow.
  bool clips = false;
  Bytes decoder_memory;  // bytes that the decoder itself will hold
  Exif exif;             // EXIF facts; the orientation is not applied to the rows

  // True where programs show the file rotated or mirrored: in TIFF the orientation is part of the format, and says
  // where its rows lie.
  bool is_reoriented_by_viewers() const { return format == ImageFormat::tiff; }
};

// Receives the rows. begin() is called once, before them. An Error from it stops the decoding and becomes the outcome.
class RowSink {
 public:
  virtual ~RowSink() = default;
  // Called before begin() by a decoder that needs memory before it knows its picture. An Error stops it. A second call
  // replaces the first.
  virtual Outcome<void> prepare(Bytes decoder_memory) {
    (void)decoder_memory;
    return {};
  }
  virtual Outcome<void> begin(const PictureInfo& info) = 0;
  virtual void rows(const std::uint8_t* data, std::ptrdiff_t stride, int count) = 0;
};

class HelperPool;

struct DecodeOptions {
  // Pixels on the shorter side, or 0 to decode in full. The decoder may reduce by any factor that it supports (JPEG's
  // 1/2, 1/4, 1/8), if the shorter side keeps this many pixels.
  int shortest_side = 0;
  bool gray = false;       // luma is enough: JPEG then returns its own Y
  bool luma = false;       // only the exact luma of RGB is used: a decoder may return that alone
  bool wide_gray = false;  // 16-bit gray keeps its high byte, as colour does; else it clips at 255
  bool over_gray = false;  // blend transparent pixels with gray, for display; else their colours are used
  bool raw_data = false;   // for a RAW file, unpack the sensor's samples too: missing ones are damage
  std::uint64_t max_pixels = 1'000'000'000;  // a larger picture is refused, against decompression bombs
  std::function<bool()> cancelled{};         // called while a helper is silent; may be empty
  bool all_in_helpers = false;               // JPEG and PNG too, which this process otherwise decodes itself
  HelperPool* helpers = nullptr;             // decode all other formats; null: starts a helper for this picture
  // Called with each EXIF block of a JPEG or PNG as it lies in the file; may be empty.
  std::function<void(std::span<const std::uint8_t>)> exif_found{};
};

// Blends a colour with a gray background, by an alpha of 0 to 255.
inline std::uint8_t blend_sample_with_gray(int colour, int alpha) {
  constexpr int kGray = 128;
  return static_cast<std::uint8_t>((colour * alpha + kGray * (255 - alpha) + 127) / 255);
}

struct DecodeResult {
  PictureInfo info;
  bool damaged = false;  // it can be shown, but part of it is missing
  std::string damage;    // reason, when damaged
  UnshownData unshown;
};

// Decodes JPEG and PNG in this process, and everything else in a helper process (src/io/image/helper_pool.h).
Outcome<DecodeResult> decode_picture(FileReader& file, const DecodeOptions& options, RowSink& sink);

Outcome<DecodeResult> decode_jpeg(FileReader& file, const DecodeOptions& options, RowSink& sink);
Outcome<DecodeResult> decode_png(FileReader& file, const DecodeOptions& options, RowSink& sink);

// Limit on width and height in pixels. JPEG, GIF and WebP have no sides beyond 16 bits, and no camera or scanner makes
// such pictures.
inline constexpr int kMaxPictureSide = 1'000'000;

// Returns Error(too_large) when a picture of this width and height is over the limit, and an error when one of them is
// 0.
Outcome<void> check_picture_size(std::uint64_t width, std::uint64_t height, const DecodeOptions& options,
                                 const std::string& path);

}  // namespace millrace
