#include <algorithm>
#include <array>
#include <cstring>

#include "src/base/text.h"
#include "src/io/image/picture.h"

namespace millrace {
namespace {

struct Named {
  std::string_view extension;
  ImageFormat format;
};

// Extensions in lower case. The RAW formats are those that LibRaw lists and that are in use.
constexpr std::array kExtensions = {
    Named{"jpg", ImageFormat::jpeg},  Named{"jpeg", ImageFormat::jpeg}, Named{"jpe", ImageFormat::jpeg},
    Named{"jfif", ImageFormat::jpeg}, Named{"mpo", ImageFormat::jpeg},  Named{"png", ImageFormat::png},
    Named{"gif", ImageFormat::gif},   Named{"bmp", ImageFormat::bmp},   Named{"dib", ImageFormat::bmp},
    Named{"pbm", ImageFormat::pnm},   Named{"pgm", ImageFormat::pnm},   Named{"ppm", ImageFormat::pnm},
    Named{"pnm", ImageFormat::pnm},   Named{"tif", ImageFormat::tiff},  Named{"tiff", ImageFormat::tiff},
    Named{"webp", ImageFormat::webp}, Named{"heic", ImageFormat::heif}, Named{"heif", ImageFormat::heif},
    Named{"avif", ImageFormat::heif}, Named{"hif", ImageFormat::heif},  Named{"jxl", ImageFormat::jxl},
    Named{"jp2", ImageFormat::jp2},   Named{"j2k", ImageFormat::jp2},   Named{"jpx", ImageFormat::jp2},
    Named{"dng", ImageFormat::raw},   Named{"cr2", ImageFormat::raw},   Named{"cr3", ImageFormat::raw},
    Named{"crw", ImageFormat::raw},   Named{"nef", ImageFormat::raw},   Named{"nrw", ImageFormat::raw},
    Named{"arw", ImageFormat::raw},   Named{"sr2", ImageFormat::raw},   Named{"srf", ImageFormat::raw},
    Named{"orf", ImageFormat::raw},   Named{"rw2", ImageFormat::raw},   Named{"raf", ImageFormat::raw},
    Named{"pef", ImageFormat::raw},   Named{"srw", ImageFormat::raw},   Named{"x3f", ImageFormat::raw},
    Named{"3fr", ImageFormat::raw},   Named{"kdc", ImageFormat::raw},   Named{"dcr", ImageFormat::raw},
    Named{"mrw", ImageFormat::raw},   Named{"erf", ImageFormat::raw},   Named{"mef", ImageFormat::raw},
    Named{"mos", ImageFormat::raw},   Named{"iiq", ImageFormat::raw},   Named{"rwl", ImageFormat::raw},
};

ImageFormat by_extension(std::string_view path) {
  const std::string ext = extension(path);
  for (const Named& named : kExtensions) {
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

bool has_picture_extension(std::string_view path) { return by_extension(path) != ImageFormat::unknown; }
bool has_raw_extension(std::string_view path) { return by_extension(path) == ImageFormat::raw; }

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
