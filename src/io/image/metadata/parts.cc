#include "src/io/image/metadata/parts.h"

#include "src/base/text.h"
#include "src/io/image/metadata/software.h"

namespace millrace {
namespace {

using namespace std::string_view_literals;

// Limit on the comments and texts that are kept; a file may hold millions.
constexpr std::size_t kMostComments = 8;

// Limit on the segments of an ICC profile, which have 64 KiB each; a printer's profile has ten.
constexpr std::size_t kMostPieces = 64;

// Takes a JPEG's segment, without its marker and its length.
void add_segment(std::uint8_t marker, ByteRange data, MetadataParts& parts) {
  constexpr std::uint8_t kDqt = 0xDB, kApp1 = 0xE1, kApp2 = 0xE2, kApp12 = 0xEC, kApp13 = 0xED, kComment = 0xFE;
  constexpr std::string_view kExif = "Exif\0\0"sv, kXmp = "http://ns.adobe.com/xap/1.0/\0"sv,
                             kResources = "Photoshop 3.0\0"sv, kMpf = "MPF\0"sv, kProfile = "ICC_PROFILE\0"sv;
  constexpr std::uint64_t kPiece = kProfile.size() + 2;  // segment number and count
  // Frame headers are all SOF markers; DHT, JPG and DAC in the same range are none.
  const bool frame = marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
  if (marker == kDqt) parts.tables->define(data.first(data.size()));
  if (frame) parts.tables->frame(data.first(data.size()));
  if (marker == kApp1 && parts.exif.empty() && data.starts_with(kExif)) parts.exif.push_back({data});
  if (marker == kApp1 && !parts.xmp && data.starts_with(kXmp)) parts.xmp = data.part(kXmp.size());
  if (marker == kApp13 && parts.resources.empty() && data.starts_with(kResources)) {
    parts.resources = data.part(kResources.size());
  }
  if (marker == kApp2 && parts.jpeg.mpf.empty() && data.starts_with(kMpf)) parts.jpeg.mpf = data.part(kMpf.size());
  if (marker == kApp2 && parts.profile.size() < kMostPieces && data.starts_with(kProfile))
    parts.profile.push_back(data.part(kPiece));
  if (parts.comments.size() == kMostComments) return;
  if (marker == kComment) parts.comments.emplace_back(as_text(data.first(TiffFields::kLongestText)));
  // Photoshop's "save for the web" leaves no other trace.
  if (marker == kApp12 && data.starts_with("Ducky")) parts.comments.emplace_back("Adobe Photoshop");
}

void find_in_jpeg(ByteRange file, MetadataParts& parts) {
  constexpr std::uint8_t kEnd = 0xD9, kScan = 0xDA;
  parts.tables.emplace();
  for (std::uint64_t at = 2;;) {
    const auto head = file.read(at, 2);
    if (head.empty() || head[0] != 0xFF) return;
    const std::uint8_t marker = head[1];
    if (marker == 0xFF) {  // fill byte
      ++at;
      continue;
    }
    if (marker == kEnd || marker == kScan) {
      parts.jpeg.picture_at = at;
      return;
    }
    if (marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8)) {  // markers without a length
      at += 2;
      continue;
    }
    const std::uint64_t size = file.number(at + 2, 2);
    if (size < 2) return;
    const ByteRange data = file.part(at + 4, size - 2);
    // A truncated segment is ignored.
    if (data.size() == size - 2) add_segment(marker, data, parts);
    at += 2 + size;
  }
}

// Takes a PNG's text: keyword, zero, text. In iTXt, two numbers, a language and a translated keyword come before the
// text.
void add_text(ByteRange chunk, bool international, MetadataParts& parts) {
  constexpr std::uint64_t kLongestHead = 512;
  constexpr std::string_view kXmp = "XML:com.adobe.xmp";
  const std::string_view head = as_text(chunk.first(kLongestHead));
  std::size_t at = head.find('\0');
  if (at == std::string_view::npos) return;
  const std::string keyword(head.substr(0, at++));
  if (international) {
    if (at + 2 > head.size() || head[at] != 0) return;  // compressed text
    at += 2;
    for (int field = 0; field < 2; ++field) {
      at = head.find('\0', at);
      if (at++ == std::string_view::npos) return;
    }
  }
  const ByteRange text = chunk.part(at);
  if (international && keyword == kXmp && !parts.xmp) parts.xmp = text;
  const std::string value(trim(as_text(text.first(TiffFields::kLongestText))));
  if (keyword == "Software" && parts.software.empty()) parts.software = value;
  if (keyword == "Comment" && parts.comments.size() < kMostComments) parts.comments.push_back(value);
  if (keyword == "Title" && !value.empty()) parts.title = true;
  if (keyword == "Description" && !says_nothing(value)) parts.description = true;
}

void find_in_png(ByteRange file, MetadataParts& parts) {
  for (std::uint64_t at = 8; !file.read(at, 8).empty();) {
    const std::uint64_t size = file.number(at, 4);
    const std::string type(as_text(file.read(at + 4, 4)));
    if (type == "IDAT" || type == "IEND") return;
    const ByteRange data = file.part(at + 8, size);
    if (data.size() < size) return;
    if (type == "eXIf" && parts.exif.empty()) parts.exif.push_back({data});
    if (type == "iCCP") parts.profile = {data};
    if (type == "tEXt" || type == "iTXt") add_text(data, type == "iTXt", parts);
    at += 12 + size;
  }
}

void find_in_webp(ByteRange file, MetadataParts& parts) {
  for (std::uint64_t at = 12; !file.read(at, 8).empty();) {
    const std::string type(as_text(file.read(at, 4)));
    const std::uint64_t size = file.number(at + 4, 4, ByteOrder::little);
    const ByteRange data = file.part(at + 8, size);
    if (data.size() < size) return;
    if (type == "EXIF" && parts.exif.empty()) parts.exif.push_back({data});
    if (type == "XMP " && !parts.xmp) parts.xmp = data;
    if (type == "ICCP") parts.profile = {data};
    at += 8 + size + (size & 1);
  }
}

void find_in_tiff(ByteRange file, MetadataParts& parts) {
  constexpr std::uint16_t kXmp = 700, kIptc = 0x83BB, kResources = 0x8649, kProfile = 0x8773;
  parts.exif.push_back({file});
  const TiffFields fields(file);
  if (const ByteRange xmp = fields.value(TiffDirectory::main, kXmp); !xmp.empty()) parts.xmp = xmp;
  parts.iptc = fields.value(TiffDirectory::main, kIptc);
  parts.resources = fields.value(TiffDirectory::main, kResources);
  if (const ByteRange profile = fields.value(TiffDirectory::main, kProfile); !profile.empty())
    parts.profile = {profile};
}

void find_in_raw(ByteRange file, MetadataParts& parts) {
  constexpr std::uint64_t kRafJpegAt = 84;
  if (file.starts_with("FUJIFILMCCD-RAW")) {
    const ByteRange jpeg = file.part(file.number(kRafJpegAt, 4), file.number(kRafJpegAt + 4, 4));
    if (jpeg.starts_with("\xFF\xD8\xFF")) find_in_jpeg(jpeg, parts);
    parts.tables.reset();  // these are the preview's tables
  } else if (file.starts_with("ftyp", 4)) {
    find_parts_in_boxes(file, parts);
  } else {
    find_in_tiff(file, parts);
  }
}

}  // namespace

MetadataParts find_parts(ByteRange file, std::string_view path) {
  constexpr std::uint64_t kHead = 32;
  MetadataParts parts;
  parts.format = sniff_format(file.first(kHead), path);
  switch (parts.format) {
    case ImageFormat::jpeg:
      find_in_jpeg(file, parts);
      break;
    case ImageFormat::png:
      find_in_png(file, parts);
      break;
    case ImageFormat::webp:
      find_in_webp(file, parts);
      break;
    case ImageFormat::tiff:
      find_in_tiff(file, parts);
      break;
    case ImageFormat::raw:
      find_in_raw(file, parts);
      break;
    case ImageFormat::heif:
    case ImageFormat::jxl:
    case ImageFormat::jp2:
      find_parts_in_boxes(file, parts);
      break;
    case ImageFormat::gif:
    case ImageFormat::bmp:
    case ImageFormat::pnm:
    case ImageFormat::unknown:
      break;
  }
  return parts;
}

}  // namespace millrace
