// WebP, TIFF, HEIF, JPEG XL and JPEG 2000 by libvips, one strip at a time where the format allows.
#include <sys/stat.h>
#include <unistd.h>
#include <vips/vips.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "src/base/error.h"
#include "src/io/image/cmyk.h"
#include "src/io/image/helper/decoder.h"
#include "src/io/image/helper/geometry.h"
#include "src/io/image/picture.h"
#include "src/io/process/child_process.h"

namespace millrace::helper {
namespace {

struct GObjectDeleter {
  void operator()(void* object) const { g_object_unref(object); }
};
template <typename T>
using GObjectPtr = std::unique_ptr<T, GObjectDeleter>;

std::string take_error() {
  std::string text = vips_error_buffer();
  vips_error_clear();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ';');
  return text.empty() ? "the file cannot be decoded" : text;
}

void fail_with(DecoderChannel& channel, const std::string& why) {
  const bool memory = why.find("out of memory") != std::string::npos || why.find("Out of memory") != std::string::npos;
  channel.fail(static_cast<int>(memory ? ErrorCode::out_of_memory : ErrorCode::bad_data), why);
}

// The file is read through two callbacks. libvips would map a plain descriptor, and pages that it has touched then
// count as the helper's memory.
gint64 read_source(VipsSourceCustom*, void* data, gint64 size, void* fd) {
  return ::read(GPOINTER_TO_INT(fd), data, static_cast<std::size_t>(size));
}
gint64 seek_source(VipsSourceCustom*, gint64 offset, int whence, void* fd) {
  return ::lseek(GPOINTER_TO_INT(fd), offset, whence);
}

GObjectPtr<VipsSource> open_source(int fd) {
  ::lseek(fd, 0, SEEK_SET);
  VipsSourceCustom* source = vips_source_custom_new();
  g_signal_connect(source, "read", G_CALLBACK(read_source), GINT_TO_POINTER(fd));
  g_signal_connect(source, "seek", G_CALLBACK(seek_source), GINT_TO_POINTER(fd));
  return GObjectPtr<VipsSource>(VIPS_SOURCE(source));
}

VipsImage* load(const DecodeJob& job, VipsSource* source, bool header_only, double scale, int page) {
  VipsImage* image = nullptr;
  // A header is read with random access, so that the same source can be read again; pixels are read from top to bottom.
  const VipsAccess access = header_only ? VIPS_ACCESS_RANDOM : VIPS_ACCESS_SEQUENTIAL;
  int status = -1;
  switch (static_cast<ImageFormat>(job.format)) {
    case ImageFormat::webp:
      status = vips_webpload_source(source, &image, "access", access, "scale", scale, nullptr);
      break;
    case ImageFormat::tiff:
      status = vips_tiffload_source(source, &image, "access", access, nullptr);
      break;
    case ImageFormat::heif:
      status = vips_heifload_source(source, &image, "access", access, nullptr);
      break;
    case ImageFormat::jxl:
      status = vips_jxlload_source(source, &image, "access", access, nullptr);
      break;
    case ImageFormat::jp2:
      status = vips_jp2kload_source(source, &image, "access", access, "page", page, nullptr);
      break;
    default:
      vips_error("millrace", "this format is not supported");
      break;
  }
  return status == 0 ? image : nullptr;
}

std::uint8_t clipped(double v) { return static_cast<std::uint8_t>(v <= 0 ? 0 : v >= 255 ? 255 : v); }

// Blends a converted row with gray. Alpha is the last band, of 8 or 16 bits.
void blend_with_gray(const VipsPel* from, const VipsImage* image, int channels, std::uint8_t* to) {
  for (int x = 0; x < image->Xsize; ++x) {
    const int at = (x + 1) * image->Bands - 1;
    const int alpha = image->BandFmt == VIPS_FORMAT_UCHAR    ? from[at]
                      : image->BandFmt == VIPS_FORMAT_USHORT ? reinterpret_cast<const std::uint16_t*>(from)[at] >> 8
                                                             : 255;
    for (int c = 0; c < channels; ++c, ++to) *to = blend_sample_with_gray(*to, alpha);
  }
}

// True where a row, whose last band is alpha, has a pixel that is not opaque.
bool has_transparent_pixel(const VipsPel* row, const VipsImage* image) {
  for (int x = 0; x < image->Xsize; ++x) {
    const int at = (x + 1) * image->Bands - 1;
    switch (image->BandFmt) {
      case VIPS_FORMAT_UCHAR:
        if (row[at] < 255) return true;
        break;
      case VIPS_FORMAT_USHORT:
        if (reinterpret_cast<const std::uint16_t*>(row)[at] < 65535) return true;
        break;
      default:
        return true;
    }
  }
  return false;
}

// Converts a row of libvips to 8-bit gray or RGB, by Pillow's rules for the same mode.
void convert_row(const VipsPel* from, const VipsImage* image, int channels, bool wide_gray, std::uint8_t* to) {
  const int width = image->Xsize;
  const int bands = image->Bands;
  const bool cmyk = image->Type == VIPS_INTERPRETATION_CMYK && bands >= 4;
  for (int x = 0; x < width; ++x, to += channels) {
    const auto sample = [&](int c) -> int {
      const int at = x * bands + c;
      switch (image->BandFmt) {
        case VIPS_FORMAT_UCHAR:
          return from[at];
        case VIPS_FORMAT_USHORT: {
          const int v = reinterpret_cast<const std::uint16_t*>(from)[at];
          return channels == 1 && !wide_gray ? std::min(v, 255) : v >> 8;
        }
        case VIPS_FORMAT_UINT:
          return static_cast<int>(std::min<std::uint32_t>(reinterpret_cast<const std::uint32_t*>(from)[at], 255));
        case VIPS_FORMAT_FLOAT:
          return clipped(reinterpret_cast<const float*>(from)[at]);
        case VIPS_FORMAT_DOUBLE:
          return clipped(reinterpret_cast<const double*>(from)[at]);
        default:
          return 0;
      }
    };
    if (channels == 1) {
      to[0] = static_cast<std::uint8_t>(sample(0));
    } else if (cmyk) {
      for (int c = 0; c < 3; ++c) to[c] = cmyk_channel(sample(c), sample(3));
    } else {
      for (int c = 0; c < 3; ++c) to[c] = static_cast<std::uint8_t>(sample(c));
    }
  }
}

bool can_convert_rows(const VipsImage* image) {
  switch (image->BandFmt) {
    case VIPS_FORMAT_UCHAR:
    case VIPS_FORMAT_USHORT:
    case VIPS_FORMAT_UINT:
    case VIPS_FORMAT_FLOAT:
    case VIPS_FORMAT_DOUBLE:
      break;
    default:
      return false;
  }
  switch (image->Type) {
    case VIPS_INTERPRETATION_LAB:
    case VIPS_INTERPRETATION_LABS:
    case VIPS_INTERPRETATION_LABQ:
    case VIPS_INTERPRETATION_XYZ:
    case VIPS_INTERPRETATION_scRGB:
      return false;
    default:
      return true;
  }
}

std::uint64_t size_of(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

// Bytes that the loader will hold, measured on pictures of 12 and 100 megapixels. They are a few rows of strips or
// tiles, or the whole picture where the codec needs all of it.
std::uint64_t estimate_loader_memory(const DecodeJob& job, std::uint64_t width, std::uint64_t height,
                                     std::uint64_t pel) {
  constexpr std::uint64_t kTables = 16U << 20;
  switch (static_cast<ImageFormat>(job.format)) {
    case ImageFormat::tiff:
      return width * pel * std::max<std::uint64_t>(1024, 4 * read_tiff_geometry(job.fd).rows_per_block()) + kTables;
    case ImageFormat::jp2:
      return width * height * pel * 5 + kTables;  // OpenJPEG works with 32-bit samples
    case ImageFormat::jxl:
      return width * height * 12 + kTables;
    case ImageFormat::webp:
      return width * height * (read_webp_geometry(job.fd).lossless ? 20 : 12) + size_of(job.fd) + kTables;
    default:
      return width * height * (pel + 9) + size_of(job.fd) + kTables;
  }
}

// Scale for loaders that have one, and the page of a JPEG 2000 file, which is a resolution.
struct Reduction {
  double scale = 1.0;
  int page = 0;
};
Reduction choose_reduction(const DecodeJob& job, int shortest) {
  Reduction out;
  if (job.shortest_side <= 0 || shortest <= 2 * job.shortest_side) return out;
  if (job.format == static_cast<int>(ImageFormat::webp)) out.scale = static_cast<double>(job.shortest_side) / shortest;
  if (job.format == static_cast<int>(ImageFormat::jp2)) {
    while ((shortest >> (out.page + 1)) >= job.shortest_side && out.page < 5) ++out.page;
  }
  return out;
}

std::vector<std::uint8_t> read_exif(VipsImage* image) {
  const void* block = nullptr;
  std::size_t size = 0;
  if (vips_image_get_typeof(image, VIPS_META_EXIF_NAME) == 0 ||
      vips_image_get_blob(image, VIPS_META_EXIF_NAME, &block, &size) != 0)
    return {};
  const auto* const bytes = static_cast<const std::uint8_t*>(block);
  return {bytes, bytes + size};
}

// Returns the orientation that the pixels still need; 0 if the file has none.
int remaining_orientation(const DecodeJob& job, VipsImage* image) {
  // libheif and the JPEG XL decoder apply the orientation themselves. An EXIF tag that is left would apply it twice.
  if (job.format == static_cast<int>(ImageFormat::heif) || job.format == static_cast<int>(ImageFormat::jxl)) return 1;
  int out = 0;
  if (vips_image_get_typeof(image, VIPS_META_ORIENTATION) != 0) vips_image_get_int(image, VIPS_META_ORIENTATION, &out);
  return out;
}

// Converts the rows of a prepared region.
void convert_rows(const DecodeJob& job, VipsRegion* region, const VipsRect& rect, int channels, std::uint8_t* out,
                  UnshownData& unshown) {
  const std::size_t pitch = static_cast<std::size_t>(rect.width) * static_cast<std::size_t>(channels);
  for (int r = 0; r < rect.height; ++r, out += pitch) {
    const VipsPel* const row = VIPS_REGION_ADDR(region, 0, rect.top + r);
    convert_row(row, region->im, channels, job.wide_gray, out);
    if (vips_image_hasalpha(region->im) == 0) continue;
    unshown.transparency = unshown.transparency || has_transparent_pixel(row, region->im);
    if (job.over_gray) blend_with_gray(row, region->im, channels, out);
  }
}

}  // namespace

void decode_with_vips(const DecodeJob& job, DecoderChannel& channel) {
  vips_error_clear();  // messages from a previous picture
  const auto bad = [&] { fail_with(channel, take_error()); };
  if (static_cast<ImageFormat>(job.format) == ImageFormat::webp) {
    // The WebP loader allocates the whole picture when it opens the file.
    const WebpGeometry sides = read_webp_geometry(job.fd);
    const auto memory = estimate_loader_memory(job, static_cast<std::uint64_t>(sides.width),
                                               static_cast<std::uint64_t>(sides.height), 4);
    if (sides.width > 0 && sides.height > 0 && !channel.prepare(sides.width, sides.height, memory)) return;
  }
  if (static_cast<ImageFormat>(job.format) == ImageFormat::tiff && read_tiff_geometry(job.fd).has_gray_alpha_planes()) {
    return channel.fail(static_cast<int>(ErrorCode::unsupported),
                        "separate planes of gray and alpha are not supported");
  }
  const GObjectPtr<VipsSource> header_source = open_source(job.fd);
  int full_width = 0, full_height = 0;
  bool has_more_pages = false;
  {
    const GObjectPtr<VipsImage> header(load(job, header_source.get(), true, 1.0, 0));
    if (!header) return bad();
    full_width = header->Xsize;
    full_height = header->Ysize;
    // The pages of a JPEG 2000 are its resolutions.
    int pages = 1;
    if (job.format != static_cast<int>(ImageFormat::jp2) && vips_image_get_typeof(header.get(), VIPS_META_N_PAGES) != 0)
      vips_image_get_int(header.get(), VIPS_META_N_PAGES, &pages);
    has_more_pages = pages > 1;
  }
  auto [scale, page] = choose_reduction(job, std::min(full_width, full_height));
  const GObjectPtr<VipsSource> source = open_source(job.fd);
  VipsImage* loaded = load(job, source.get(), false, scale, page);
  if (loaded == nullptr && page > 0) {
    // A file with fewer resolutions than asked for is decoded in full.
    vips_error_clear();
    page = 0;
    loaded = load(job, source.get(), false, scale, page);
  }
  if (loaded == nullptr) return bad();
  GObjectPtr<VipsImage> image(loaded);

  const bool deep = image->BandFmt != VIPS_FORMAT_UCHAR;
  DecoderMessage about{};
  about.exact = scale == 1.0 && page == 0;
  switch (static_cast<ImageFormat>(job.format)) {
    case ImageFormat::tiff:
      about.exact = read_tiff_geometry(job.fd).matches_pillow() ? 1 : 0;
      break;
    case ImageFormat::webp:
      about.exact = about.exact != 0 && read_webp_geometry(job.fd).lossless;
      break;
    default:
      about.exact = 0;
      break;
  }
  if (!can_convert_rows(image.get())) {
    VipsImage* converted = nullptr;
    if (vips_colourspace(image.get(), &converted, VIPS_INTERPRETATION_sRGB, nullptr) != 0) return bad();
    image.reset(converted);
    about.exact = 0;
    if (!can_convert_rows(image.get())) {
      return channel.fail(static_cast<int>(ErrorCode::unsupported), "its sample format is not supported");
    }
  }
  about.width = image->Xsize;
  about.height = image->Ysize;
  about.full_width = full_width;
  about.full_height = full_height;
  about.channels = image->Bands < 3 ? 1 : 3;
  const bool narrowed = image->BandFmt == VIPS_FORMAT_USHORT && (about.channels == 3 || job.wide_gray);
  about.clips = image->BandFmt == VIPS_FORMAT_UCHAR || narrowed ? 0 : 1;
  about.decoder_memory =
      estimate_loader_memory(job, static_cast<std::uint64_t>(full_width), static_cast<std::uint64_t>(full_height),
                             VIPS_IMAGE_SIZEOF_PEL(image.get()));
  const std::vector<std::uint8_t> exif = read_exif(image.get());
  about.orientation = remaining_orientation(job, image.get());
  if (!channel.begin(about, exif)) return;

  const GObjectPtr<VipsRegion> region(vips_region_new(image.get()));
  const std::size_t pitch = static_cast<std::size_t>(about.width) * static_cast<std::size_t>(about.channels);
  bool damaged = false;
  UnshownData unshown;
  const auto format = static_cast<ImageFormat>(job.format);
  (format == ImageFormat::webp || format == ImageFormat::jxl ? unshown.frames : unshown.pages) = has_more_pages;
  unshown.depth = deep;
  std::string why;
  for (int y = 0; y < about.height;) {
    const int count = std::min(channel.max_rows(), about.height - y);
    const VipsRect rect{0, y, about.width, count};
    if (!damaged && vips_region_prepare(region.get(), &rect) != 0) {
      why = take_error();
      if (y == 0) return fail_with(channel, why);
      damaged = true;
    }
    if (damaged) {
      std::memset(channel.strip(), 0, pitch * static_cast<std::size_t>(count));
    } else {
      convert_rows(job, region.get(), rect, about.channels, channel.strip(), unshown);
    }
    if (!channel.rows(count)) {
      channel.end(true, "cancelled");
      return;
    }
    y += count;
  }
  channel.end(damaged, why, unshown);
}

void load_vips() {
  if (VIPS_INIT("millrace-decoder") != 0) std::_Exit(kExitCannotStart);
  // ImageMagick's coders are too many to trust. The formats that only ImageMagick reads in libvips are decoded by other
  // libraries here.
  vips_operation_block_set("VipsForeignLoadMagick", TRUE);
  vips_concurrency_set(1);
  vips_cache_set_max(0);
  // libheif looks for its plugins at its first use, so it is given a file here that ends after its header.
  static const char kHeif[] =
      "\0\0\0\x18"
      "ftypheic\0\0\0\0mif1heic";
  VipsImage* none = nullptr;
  if (vips_heifload_buffer(const_cast<char*>(kHeif), sizeof kHeif - 1, &none, nullptr) == 0) g_object_unref(none);
  vips_error_clear();
}

}  // namespace millrace::helper
