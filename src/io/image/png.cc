// PNG by libpng. Alpha and transparent colours are dropped, or blended with gray on request. 16-bit gray clips at 255,
// and 16-bit colour keeps its high byte, as in Pillow's modes.
#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <memory>
#include <vector>

#include "src/base/text.h"
#include "src/io/image/picture.h"

namespace millrace {
namespace {

constexpr std::size_t kPngRowsAtOnce = 16;
constexpr png_byte kExif[] = "eXIf", kAnimation[] = "acTL";

struct PngSession {
  png_structp png = nullptr;
  png_infop info = nullptr;
  FileReader* file = nullptr;
  std::span<const std::uint8_t> chunk;
  bool ended = false;
  std::string message;
  std::jmp_buf jump;

  PictureInfo picture;
  std::vector<std::uint8_t> pixels;
  std::vector<png_bytep> rows;
  std::size_t pitch = 0;
  bool wide_gray = false;
  bool alpha = false;  // an alpha value follows each pixel of the rows
  UnshownData unshown;
  bool high_byte = false;  // 16-bit gray keeps its high byte
  bool interlaced = false;
  bool any = false;  // at least one whole pass has arrived

  ~PngSession() { png_destroy_read_struct(&png, &info, nullptr); }
};

void on_error(png_structp png, png_const_charp message) {
  auto* s = static_cast<PngSession*>(png_get_error_ptr(png));
  s->message = message;
  std::longjmp(s->jump, 1);
}

void on_warning(png_structp, png_const_charp) {}

void on_read(png_structp png, png_bytep out, png_size_t count) {
  auto* s = static_cast<PngSession*>(png_get_io_ptr(png));
  while (count > 0) {
    if (s->chunk.empty()) s->chunk = s->file->next();
    if (s->chunk.empty()) {
      s->ended = true;
      png_error(png, "the file is truncated");
    }
    const std::size_t n = std::min(count, s->chunk.size());
    std::memcpy(out, s->chunk.data(), n);
    out += n;
    count -= n;
    s->chunk = s->chunk.subspan(n);
  }
}

// Texts, profiles and suggested palettes are skipped unread: a small file may unpack to gigabytes of them. EXIF is read
// as an unknown chunk, because libpng allocates a known one by the length that the file claims.
void choose_chunks(png_structp png) {
  static constexpr png_byte kPassedOver[] = "tEXt\0zTXt\0iTXt\0iCCP\0sPLT\0hIST\0pCAL\0sCAL";
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, kPassedOver, 8);
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_ALWAYS, kExif, 1);
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_ALWAYS, kAnimation, 1);
  png_set_chunk_malloc_max(png, 4U << 20);
  png_set_chunk_cache_max(png, 16);
}

bool read_header(PngSession& s) {
  if (setjmp(s.jump) != 0) return false;
  png_set_read_fn(s.png, &s, on_read);
  // Width and height are checked by our own limit instead.
  png_set_user_limits(s.png, 0x7FFFFFFF, 0x7FFFFFFF);
  choose_chunks(s.png);
  png_read_info(s.png, s.info);
  return true;
}

// Chooses the pixel format. libpng allocates a row here, so the size was checked before.
bool choose_pixels(PngSession& s) {
  if (setjmp(s.jump) != 0) return false;
  const int depth = png_get_bit_depth(s.png, s.info);
  const int color = png_get_color_type(s.png, s.info);
  s.wide_gray = depth == 16 && color == PNG_COLOR_TYPE_GRAY;
  if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(s.png);
  if (color == PNG_COLOR_TYPE_GRAY && depth < 8) png_set_expand_gray_1_2_4_to_8(s.png);
  if (depth == 16 && !s.wide_gray) png_set_strip_16(s.png);
  const bool keyed = png_get_valid(s.png, s.info, PNG_INFO_tRNS) != 0;
  if (keyed && !s.wide_gray) png_set_tRNS_to_alpha(s.png);
  s.unshown.depth = depth == 16;
  s.unshown.transparency = keyed && s.wide_gray;  // the transparent value is not searched for
  s.interlaced = png_set_interlace_handling(s.png) > 1;
  png_read_update_info(s.png, s.info);
  s.pitch = png_get_rowbytes(s.png, s.info);
  s.picture.channels = (color & PNG_COLOR_MASK_COLOR) != 0 ? 3 : 1;
  s.alpha = png_get_channels(s.png, s.info) > s.picture.channels;
  return true;
}

// Reads `count` rows into s.rows, from row `from` on; false when libpng gave up.
bool read_rows(PngSession& s, std::size_t from, std::size_t count) {
  if (setjmp(s.jump) != 0) return false;
  png_read_rows(s.png, s.rows.data() + from, nullptr, static_cast<png_uint_32>(count));
  return true;
}

// Reads all passes. Each pixel is painted over the area that it represents, so that the passes that arrived form a
// coarse picture.
bool read_passes(PngSession& s) {
  if (setjmp(s.jump) != 0) return false;
  for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; ++pass) {
    png_read_rows(s.png, nullptr, s.rows.data(), static_cast<png_uint_32>(s.rows.size()));
    s.any = true;
  }
  return true;
}

void read_end(PngSession& s) {
  if (setjmp(s.jump) != 0) return;
  png_read_end(s.png, s.info);
}

void read_exif(PngSession& s, const DecodeOptions& options) {
  png_unknown_chunkp chunks = nullptr;
  const int count = png_get_unknown_chunks(s.png, s.info, &chunks);
  const auto is = [&](int i, const png_byte* name) { return std::memcmp(chunks[i].name, name, 4) == 0; };
  bool found = false;  // the first block counts
  for (int i = 0; i < count; ++i) {
    if (is(i, kAnimation)) s.unshown.frames = true;
    if (found || !is(i, kExif)) continue;
    s.picture.exif = parse_exif({chunks[i].data, chunks[i].size});
    if (options.exif_found) options.exif_found({chunks[i].data, chunks[i].size});
    found = true;
  }
}

// Converts 16-bit gray to 8 bits in place: to its high byte, or clipped at 255.
void narrow(std::uint8_t* row, int width, bool high_byte) {
  for (int x = 0; x < width; ++x) row[x] = high_byte ? row[2 * x] : row[2 * x] != 0 ? 255 : row[2 * x + 1];
}

// Removes alpha in place; true where some pixel is not opaque.
bool drop_alpha(std::uint8_t* row, int width, int channels, bool over_gray) {
  int least = 255;
  const std::uint8_t* from = row;
  for (int x = 0; x < width; ++x) {
    const int alpha = from[channels];
    for (int c = 0; c < channels; ++c, ++from) *row++ = over_gray ? blend_sample_with_gray(*from, alpha) : *from;
    least = std::min<int>(least, *from++);
  }
  return least < 255;
}

}  // namespace

Outcome<DecodeResult> decode_png(FileReader& file, const DecodeOptions& options, RowSink& sink) {
  const auto session = std::make_unique<PngSession>();
  PngSession& s = *session;
  const std::string subject = escape_unprintable(file.path());
  s.file = &file;
  s.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &s, on_error, on_warning);
  if (s.png == nullptr)
    return Error{ErrorCode::out_of_memory, "out of memory while libpng was initialized", subject, ""};
  s.info = png_create_info_struct(s.png);
  if (s.info == nullptr)
    return Error{ErrorCode::out_of_memory, "out of memory while libpng was initialized", subject, ""};
  const auto broken = [&]() -> Error {
    if (file.failed()) return file.error();
    if (s.ended) return {ErrorCode::bad_data, "the file is truncated before its first pixel", subject, ""};
    return {ErrorCode::bad_data, fmt::format("the PNG cannot be decoded ({})", s.message), subject, ""};
  };
  if (!read_header(s)) return broken();
  const std::uint64_t width = png_get_image_width(s.png, s.info);
  const std::uint64_t height = png_get_image_height(s.png, s.info);
  if (auto done = check_picture_size(width, height, options, subject); !done.ok()) return done.error();
  if (!choose_pixels(s)) return broken();

  s.picture.format = ImageFormat::png;
  s.picture.width = s.picture.full_width = static_cast<int>(width);
  s.picture.height = s.picture.full_height = static_cast<int>(height);
  // An interlaced picture is complete only at its end, so all of it is held.
  const std::size_t held = s.interlaced ? static_cast<std::size_t>(height) : kPngRowsAtOnce;
  s.high_byte = options.wide_gray;
  s.picture.clips = s.wide_gray && !s.high_byte;
  s.picture.decoder_memory = {s.pitch * (held + 4) + (1U << 19)};
  read_exif(s, options);
  if (auto done = sink.begin(s.picture); !done.ok()) return done.error();
  s.pixels.assign(s.pitch * held, 0);
  for (std::size_t r = 0; r < held; ++r) s.rows.push_back(s.pixels.data() + r * s.pitch);

  DecodeResult result;
  const auto give = [&](std::size_t count) {
    for (std::size_t r = 0; r < count; ++r) {
      if (s.wide_gray) narrow(s.rows[r], s.picture.width, s.high_byte);
      if (s.alpha && drop_alpha(s.rows[r], s.picture.width, s.picture.channels, options.over_gray))
        s.unshown.transparency = true;
    }
    sink.rows(s.pixels.data(), static_cast<std::ptrdiff_t>(s.pitch), static_cast<int>(count));
  };
  bool whole = true;
  if (s.interlaced) {
    whole = read_passes(s);
    // The first pass alone is a coarse version of the whole picture. It can be shown, so it is returned.
    if (!s.any) return broken();
    give(held);
  } else {
    std::size_t delivered = 0;
    while (whole && delivered < height) {
      const std::size_t count = std::min<std::size_t>(kPngRowsAtOnce, static_cast<std::size_t>(height) - delivered);
      std::size_t good = 0;
      // Each call reads one row, because a call that fails does not tell how many rows it has read.
      while (good < count && (whole = read_rows(s, good, 1))) ++good;
      if (good > 0) give(good);
      delivered += good;
    }
    if (delivered == 0) return broken();
    if (!whole) {
      const std::vector<std::uint8_t> blank(s.pitch, 0);
      for (; delivered < height; ++delivered) sink.rows(blank.data(), 0, 1);
    }
  }
  if (file.failed()) return file.error();
  if (whole) {
    read_end(s);
  } else {
    result.damaged = true;
    result.damage = s.message;
  }
  if (whole) read_exif(s, options);  // the block may also come after the pixels
  result.info = s.picture;
  result.unshown = s.unshown;
  return result;
}

}  // namespace millrace
