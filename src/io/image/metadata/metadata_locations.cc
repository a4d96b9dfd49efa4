#include "src/io/image/metadata/metadata_locations.h"

#include "src/base/text.h"
#include "src/io/image/metadata/editing_software.h"

namespace millrace {
namespace {

using namespace std::string_view_literals;

// Limit on the comments and texts that are kept; a file may hold millions.
constexpr std::size_t kMaxComments = 8;

// Limit on the segments of an ICC profile, which have 64 KiB each; a printer's profile has ten.
constexpr std::size_t kMaxProfileSegments = 64;

// Takes a JPEG's segment, without its marker and its length.
void add_segment(std::uint8_t marker, ByteRange data, MetadataLocations& locations) {
  constexpr std::uint8_t kDqt = 0xDB, kApp1 = 0xE1, kApp2 = 0xE2, kApp12 = 0xEC, kApp13 = 0xED, kComment = 0xFE;
  constexpr std::string_view kExif = "Exif\0\0"sv, kXmp = "http://ns.adobe.com/xap/1.0/\0"sv,
                             kResources = "Photoshop 3.0\0"sv, kMpf = "MPF\0"sv, kProfile = "ICC_PROFILE\0"sv;
  constexpr std::uint64_t kSegment = kProfile.size() + 2;  // segment number and count
  // Frame headers are all SOF markers; DHT, JPG and DAC in the same range are none.
  const bool frame = marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
  if (marker == kDqt) locations.tables->add_quantization_tables(data.first(data.size()));
  if (frame) locations.tables->frame(data.first(data.size()));
  if (marker == kApp1 && locations.exif.empty() && data.starts_with(kExif)) locations.exif.push_back({data});
  if (marker == kApp1 && !locations.xmp && data.starts_with(kXmp)) locations.xmp = data.part(kXmp.size());
  if (marker == kApp13 && locations.resources.empty() && data.starts_with(kResources)) {
    locations.resources = data.part(kResources.size());
  }
  if (marker == kApp2 && locations.jpeg.mpf.empty() && data.starts_with(kMpf))
    locations.jpeg.mpf = data.part(kMpf.size());
  if (marker == kApp2 && locations.profile.size() < kMaxProfileSegments && data.starts_with(kProfile))
    locations.profile.push_back(data.part(kSegment));
  if (locations.comments.size() == kMaxComments) return;
  if (marker == kComment) locations.comments.emplace_back(as_text(data.first(TiffFields::kMaxTextBytes)));
  // Photoshop's "save for the web" leaves no other trace.
  if (marker == kApp12 && data.starts_with("Ducky")) locations.comments.emplace_back("Adobe Photoshop");
}

void find_in_jpeg(ByteRange file, MetadataLocations& locations) {
  constexpr std::uint8_t kEnd = 0xD9, kScan = 0xDA;
  locations.tables.emplace();
  for (std::uint64_t at = 2;;) {
    const auto head = file.read(at, 2);
    if (head.empty() || head[0] != 0xFF) return;
    const std::uint8_t marker = head[1];
    if (marker == 0xFF) {  // fill byte
      ++at;
      continue;
    }
    if (marker == kEnd || marker == kScan) {
      locations.jpeg.picture_at = at;
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
    if (data.size() == size - 2) add_segment(marker, data, locations);
    at += 2 + size;
  }
}

// Takes a PNG's text: keyword, zero, text. In iTXt, two numbers, a language and a translated keyword come before the
// text.
void add_text(ByteRange chunk, bool international, MetadataLocations& locations) {
  constexpr std::uint64_t kMaxHeadBytes = 512;
  constexpr std::string_view kXmp = "XML:com.adobe.xmp";
  const std::string_view head = as_text(chunk.first(kMaxHeadBytes));
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
  if (international && keyword == kXmp && !locations.xmp) locations.xmp = text;
  const std::string value(trim(as_text(text.first(TiffFields::kMaxTextBytes))));
  if (keyword == "Software" && locations.software.empty()) locations.software = value;
  if (keyword == "Comment" && locations.comments.size() < kMaxComments) locations.comments.push_back(value);
  if (keyword == "Title" && !value.empty()) locations.title = true;
  if (keyword == "Description" && !is_default_description(value)) locations.description = true;
}

void find_in_png(ByteRange file, MetadataLocations& locations) {
  for (std::uint64_t at = 8; !file.read(at, 8).empty();) {
    const std::uint64_t size = file.number(at, 4);
    const std::string type(as_text(file.read(at + 4, 4)));
    if (type == "IDAT" || type == "IEND") return;
    const ByteRange data = file.part(at + 8, size);
    if (data.size() < size) return;
    if (type == "eXIf" && locations.exif.empty()) locations.exif.push_back({data});
    if (type == "iCCP") locations.profile = {data};
    if (type == "tEXt" || type == "iTXt") add_text(data, type == "iTXt", locations);
    at += 12 + size;
  }
}

void find_in_webp(ByteRange file, MetadataLocations& locations) {
  for (std::uint64_t at = 12; !file.read(at, 8).empty();) {
    const std::string type(as_text(file.read(at, 4)));
    const std::uint64_t size = file.number(at + 4, 4, ByteOrder::little);
    const ByteRange data = file.part(at + 8, size);
    if (data.size() < size) return;
    if (type == "EXIF" && locations.exif.empty()) locations.exif.push_back({data});
    if (type == "XMP " && !locations.xmp) locations.xmp = data;
    if (type == "ICCP") locations.profile = {data};
    at += 8 + size + (size & 1);
  }
}

void find_in_tiff(ByteRange file, MetadataLocations& locations) {
  constexpr std::uint16_t kXmp = 700, kIptc = 0x83BB, kResources = 0x8649, kProfile = 0x8773;
  locations.exif.push_back({file});
  const TiffFields fields(file);
  if (const ByteRange xmp = fields.value(TiffDirectory::main, kXmp); !xmp.empty()) locations.xmp = xmp;
  locations.iptc = fields.value(TiffDirectory::main, kIptc);
  locations.resources = fields.value(TiffDirectory::main, kResources);
  if (const ByteRange profile = fields.value(TiffDirectory::main, kProfile); !profile.empty())
    locations.profile = {profile};
}

void find_in_raw(ByteRange file, MetadataLocations& locations) {
  constexpr std::uint64_t kRafJpegAt = 84;
  if (file.starts_with("FUJIFILMCCD-RAW")) {
    const ByteRange jpeg = file.part(file.number(kRafJpegAt, 4), file.number(kRafJpegAt + 4, 4));
    if (jpeg.starts_with("\xFF\xD8\xFF")) find_in_jpeg(jpeg, locations);
    locations.tables.reset();  // these are the preview's tables
  } else if (file.starts_with("ftyp", 4)) {
    find_metadata_in_boxes(file, locations);
  } else {
    find_in_tiff(file, locations);
  }
}

}  // namespace

MetadataLocations find_metadata(ByteRange file, std::string_view path) {
  constexpr std::uint64_t kHead = 32;
  MetadataLocations locations;
  locations.format = sniff_format(file.first(kHead), path);
  switch (locations.format) {
    case ImageFormat::jpeg:
      find_in_jpeg(file, locations);
      break;
    case ImageFormat::png:
      find_in_png(file, locations);
      break;
    case ImageFormat::webp:
      find_in_webp(file, locations);
      break;
    case ImageFormat::tiff:
      find_in_tiff(file, locations);
      break;
    case ImageFormat::raw:
      find_in_raw(file, locations);
      break;
    case ImageFormat::heif:
    case ImageFormat::jxl:
    case ImageFormat::jp2:
      find_metadata_in_boxes(file, locations);
      break;
    case ImageFormat::gif:
    case ImageFormat::bmp:
    case ImageFormat::pnm:
    case ImageFormat::unknown:
      break;
  }
  return locations;
}

}  // namespace millrace
