// The boxes of ISO base media files: ISO/IEC 14496-12, and 18181-2 for JPEG XL. CR3 follows what is known of Canon's
// files.
#include "src/io/image/metadata/box_reader.h"
#include "src/io/image/metadata/heif_items.h"
#include "src/io/image/metadata/metadata_locations.h"

namespace millrace {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kMaxVideos = 16;

constexpr std::string_view kXmpBox = "\xBE\x7A\xCF\xCB\x97\xA9\x42\xE8\x9C\x71\x99\x94\x91\xE3\xAF\xAC"sv;
constexpr std::string_view kCanonBox = "\x85\xC0\xB6\x87\x82\x0F\x11\xE0\x81\x11\xF4\xCE\x46\x2B\x6A\x48"sv;

// In a CR3, each directory is a TIFF structure of its own.
void add_canon(ByteRange boxes, MetadataLocations& locations) {
  for_each_box(boxes, [&](const std::string& type, ByteRange box) {
    if (locations.exif.size() > 4) return;
    if (type == "CMT1") locations.exif.push_back({box});
    if (type == "CMT2") locations.exif.push_back({box, TiffDirectory::exif});
    if (type == "CMT4") locations.exif.push_back({box, TiffDirectory::gps});
    if (type == "CMT3") locations.maker_note = !box.empty();
  });
}

}  // namespace

void find_metadata_in_boxes(ByteRange file, MetadataLocations& locations) {
  bool meta = false;
  for_each_box(file, [&](const std::string& type, ByteRange box) {
    if (type == "meta" && !meta) {
      meta = true;
      add_heif_items(file, box, locations);
    }
    if (type == "Exif" && locations.exif.empty()) locations.exif.push_back({skip_exif_offset(box)});
    if (type == "xml " && !locations.xmp) locations.xmp = box;
    if (type == "uuid" && box.starts_with(kXmpBox) && !locations.xmp) locations.xmp = box.part(kXmpBox.size());
    // Tracks make a HEIF file a sequence; in a CR3 they are its pictures.
    if (type == "moov") locations.sequence = true;
    if (type == "mpvd" && locations.videos.size() < kMaxVideos) locations.videos.push_back(box);
    if (type == "moov") {
      for_each_box(box, [&](const std::string& inner, ByteRange canon) {
        if (inner == "uuid" && canon.starts_with(kCanonBox)) add_canon(canon.part(kCanonBox.size()), locations);
      });
    }
  });
}

}  // namespace millrace
