// Input: a picture file, read from front to back.
// Output: its rows, 8-bit gray or RGB, handed to a sink as they are decoded; what is known about it; or a reason.
// Never: turns a picture (EXIF orientation is reported, not applied), converts colour profiles, or keeps the pixels.
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
#include "src/io/file/reader.h"
#include "src/io/image/exif.h"
#include "src/io/image/holding.h"

namespace millrace {

enum class ImageFormat : std::uint8_t { unknown, jpeg, png, gif, bmp, pnm, tiff, webp, heif, jxl, jp2, raw };
const char* name_of(ImageFormat format);

// By the file's first bytes; the extension tells only RAW files apart from the TIFF that they look like.
ImageFormat sniff_format(std::span<const std::uint8_t> head, std::string_view path);
// True for a name that a scan should open: a picture's extension, any case.
bool has_picture_extension(std::string_view path);
// True for a name that has what looks like a TIFF, or like nothing that is known, read as a RAW file.
bool has_raw_extension(std::string_view path);

struct PictureInfo {
  ImageFormat format = ImageFormat::unknown;
  int width = 0, height = 0;            // of the rows that follow
  int full_width = 0, full_height = 0;  // as stored, before any reduced decoding
  int channels = 3;                     // 1 gray, 3 RGB
  // The format defines its pixels and they are decoded in full, so that hashes are those of any right decoder.
  bool exact = true;
  // Grays of more than 8 bits, or floating point, of which what is over 255 became 255, as Pillow does it.
  bool clips = false;
  Bytes decoder_memory;  // what the decoder itself will hold on to
  Exif exif;             // what EXIF says, its orientation not applied to the rows

  // Who opens it sees it turned: of TIFF the orientation is a part of the format, which says where its rows lie.
  bool turns_when_opened() const { return format == ImageFormat::tiff; }
};

// Takes the rows. begin() is called once, before them; an Error from it stops the decoding and becomes the outcome.
class RowSink {
 public:
  virtual ~RowSink() = default;
  // Called before begin() by a decoder that has to do its work before it knows its picture: an Error stops it. A second
  // call replaces the first.
  virtual Outcome<void> prepare(Bytes decoder_memory) {
    (void)decoder_memory;
    return {};
  }
  virtual Outcome<void> begin(const PictureInfo& info) = 0;
  virtual void rows(const std::uint8_t* data, std::ptrdiff_t stride, int count) = 0;
};

class HelperPool;

struct DecodeOptions {
  // 0 decodes in full. Otherwise the decoder may reduce by whatever factor it has (JPEG's 1/2, 1/4, 1/8) as long as
  // the shorter side keeps at least this many pixels.
  int shortest_side = 0;
  bool gray = false;       // luma is enough: JPEG then gives its own Y
  bool luma = false;       // of RGB only its exact luma is looked at: a decoder may give that alone
  bool wide_gray = false;  // 16-bit gray keeps its high byte, as colour does; else it clips at 255
  bool over_gray = false;  // blend what is transparent with gray, for the eye; else its colours are taken as they are
  bool raw_data = false;   // of a RAW file, unpack the sensor's samples too: what they lack is damage
  std::uint64_t most_pixels = 1'000'000'000;  // a larger picture is refused, against decompression bombs
  std::function<bool()> cancelled{};          // asked while a helper is silent; may be empty
  bool all_in_helpers = false;                // JPEG and PNG too, which this process else decodes itself
  HelperPool* helpers = nullptr;              // who decodes what this process does not; null: a helper for this picture
  // Given each EXIF block of a JPEG or PNG as it lies in the file; may be empty.
  std::function<void(std::span<const std::uint8_t>)> exif_found{};
};

// A colour of so much alpha, of 255, as it looks over gray.
inline std::uint8_t blended_with_gray(int colour, int alpha) {
  constexpr int kGray = 128;
  return static_cast<std::uint8_t>((colour * alpha + kGray * (255 - alpha) + 127) / 255);
}

struct Decoded {
  PictureInfo info;
  bool damaged = false;  // it displays, but part of it is missing
  std::string damage;    // why, when damaged
  Unshown unshown;
};

// Decodes JPEG and PNG in this process, everything else in a helper process (src/io/image/helper_pool.h).
Outcome<Decoded> decode_picture(FileReader& file, const DecodeOptions& options, RowSink& sink);

Outcome<Decoded> decode_jpeg(FileReader& file, const DecodeOptions& options, RowSink& sink);
Outcome<Decoded> decode_png(FileReader& file, const DecodeOptions& options, RowSink& sink);

// Sides beyond 16 bits exist in no format that we read except PNG, TIFF and BMP, and no camera or scanner makes them.
inline constexpr int kLongestSide = 1'000'000;

// Error(too_large) when a picture of these sides is over the limit or has none.
Outcome<void> check_sides(std::uint64_t width, std::uint64_t height, const DecodeOptions& options,
                          const std::string& path);

}  // namespace millrace
