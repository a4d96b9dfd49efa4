#include <algorithm>
#include <array>
#include <cstring>

#include "src/base/text.h"
#include "src/io/image/picture.h"

namespace millrace {
namespace {

struct NamedExtension {
  std::string_view extension;
  ImageFormat format;
};

// Extensions in lower case. The RAW formats are those that LibRaw lists and that are in use.
constexpr std::array kExtensions = {
    NamedExtension{"jpg", ImageFormat::jpeg},  NamedExtension{"jpeg", ImageFormat::jpeg},
    NamedExtension{"jpe", ImageFormat::jpeg},  NamedExtension{"jfif", ImageFormat::jpeg},
    NamedExtension{"mpo", ImageFormat::jpeg},  NamedExtension{"png", ImageFormat::png},
    NamedExtension{"gif", ImageFormat::gif},   NamedExtension{"bmp", ImageFormat::bmp},
    NamedExtension{"dib", ImageFormat::bmp},   NamedExtension{"pbm", ImageFormat::pnm},
    NamedExtension{"pgm", ImageFormat::pnm},   NamedExtension{"ppm", ImageFormat::pnm},
    NamedExtension{"pnm", ImageFormat::pnm},   NamedExtension{"tif", ImageFormat::tiff},
    NamedExtension{"tiff", ImageFormat::tiff}, NamedExtension{"webp", ImageFormat::webp},
    NamedExtension{"heic", ImageFormat::heif}, NamedExtension{"heif", ImageFormat::heif},
    NamedExtension{"avif", ImageFormat::heif}, NamedExtension{"hif", ImageFormat::heif},
    NamedExtension{"jxl", ImageFormat::jxl},   NamedExtension{"jp2", ImageFormat::jp2},
    NamedExtension{"j2k", ImageFormat::jp2},   NamedExtension{"jpx", ImageFormat::jp2},
    NamedExtension{"dng", ImageFormat::raw},   NamedExtension{"cr2", ImageFormat::raw},
    NamedExtension{"cr3", ImageFormat::raw},   NamedExtension{"crw", ImageFormat::raw},
    NamedExtension{"nef", ImageFormat::raw},   NamedExtension{"nrw", ImageFormat::raw},
    NamedExtension{"arw", ImageFormat::raw},   NamedExtension{"sr2", ImageFormat::raw},
    NamedExtension{"srf", ImageFormat::raw},   NamedExtension{"orf", ImageFormat::raw},
    NamedExtension{"rw2", ImageFormat::raw},   NamedExtension{"raf", ImageFormat::raw},
    NamedExtension{"pef", ImageFormat::raw},   NamedExtension{"srw", ImageFormat::raw},
    NamedExtension{"x3f", ImageFormat::raw},   NamedExtension{"3fr", ImageFormat::raw},
    NamedExtension{"kdc", ImageFormat::raw},   NamedExtension{"dcr", ImageFormat::raw},
    NamedExtension{"mrw", ImageFormat::raw},   NamedExtension{"erf", ImageFormat::raw},
    NamedExtension{"mef", ImageFormat::raw},   NamedExtension{"mos", ImageFormat::raw},
    NamedExtension{"iiq", ImageFormat::raw},   NamedExtension{"rwl", ImageFormat::raw},
};

ImageFormat format_of_extension(std::string_view path) {
  const std::string ext = extension(path);
  for (const NamedExtension& named : kExtensions) {
    if (named.extension == ext) return named.format;
  }
  return ImageFormat::unknown;
}

}  // namespace

const char* name_of(ImageFormat format) {
  switch (format) {
    case ImageFormat::unknown:
      return "unknown";
    case ImageFormat::jpeg:
      return "JPEG";
    case ImageFormat::png:
      return "PNG";
    case ImageFormat::gif:
      return "GIF";
    case ImageFormat::bmp:
      return "BMP";
    case ImageFormat::pnm:
      return "PNM";
    case ImageFormat::tiff:
      return "TIFF";
    case ImageFormat::webp:
      return "WebP";
    case ImageFormat::heif:
      return "HEIF";
    case ImageFormat::jxl:
      return "JPEG XL";
    case ImageFormat::jp2:
      return "JPEG 2000";
    case ImageFormat::raw:
      return "RAW";
  }
  return "unknown";
}

bool has_picture_extension(std::string_view path) { return format_of_extension(path) != ImageFormat::unknown; }
bool has_raw_extension(std::string_view path) { return format_of_extension(path) == ImageFormat::raw; }

ImageFormat sniff_format(std::span<const std::uint8_t> head, std::string_view path) {
  const auto starts = [&](std::string_view magic, std::size_t at = 0) {
    return head.size() >= at + magic.size() && std::memcmp(head.data() + at, magic.data(), magic.size()) == 0;
  };
  using namespace std::string_view_literals;
  if (starts("\xFF\xD8\xFF"sv)) return ImageFormat::jpeg;
  if (starts("\x89PNG\r\n\x1A\n"sv)) return ImageFormat::png;
  if (starts("GIF87a"sv) || starts("GIF89a"sv)) return ImageFormat::gif;
  if (starts("RIFF"sv) && starts("WEBP"sv, 8)) return ImageFormat::webp;
  if (starts("\xFF\x0A"sv) || starts("\0\0\0\x0CJXL \r\n\x87\n"sv)) return ImageFormat::jxl;
  if (starts("\0\0\0\x0CjP  \r\n\x87\n"sv) || starts("\xFF\x4F\xFF\x51"sv)) return ImageFormat::jp2;
  if (starts("FUJIFILMCCD-RAW"sv) || starts("FOVb"sv) || starts("IIU\0"sv) || starts("IIRO"sv) || starts("IIRS"sv) ||
      starts("MMOR"sv)) {
    return ImageFormat::raw;
  }
  if (starts("ftyp"sv, 4)) {
    if (starts("crx "sv, 8)) return ImageFormat::raw;
    for (const auto brand :
         {"heic"sv, "heix"sv, "hevc"sv, "heim"sv, "heis"sv, "mif1"sv, "msf1"sv, "avif"sv, "avis"sv}) {
      if (starts(brand, 8)) return ImageFormat::heif;
    }
    return ImageFormat::unknown;  // a video
  }
  if (starts("II*\0"sv) || starts("MM\0*"sv) || starts("II+\0"sv) || starts("MM\0+"sv)) {
    return has_raw_extension(path) || starts("CR\x02"sv, 8) ? ImageFormat::raw : ImageFormat::tiff;
  }
  if (starts("BM"sv) && head.size() >= 18) return ImageFormat::bmp;
  if (head.size() >= 3 && head[0] == 'P' && head[1] >= '1' && head[1] <= '6' &&
      (head[2] == ' ' || head[2] == '\n' || head[2] == '\r' || head[2] == '\t' || head[2] == '#')) {
    return ImageFormat::pnm;
  }
  return has_raw_extension(path) ? ImageFormat::raw : ImageFormat::unknown;
}

}  // namespace millrace
