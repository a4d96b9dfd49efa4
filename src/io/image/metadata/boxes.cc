// The boxes of ISO base media files: ISO/IEC 14496-12 for boxes and items, 23008-12 annex A for EXIF in HEIF, 18181-2
// for JPEG XL. CR3 by what is known of Canon's files.
#include <optional>

#include "src/io/image/metadata/parts.h"

namespace millrace {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kMostFilms = 16;
constexpr int kMostBoxes = 4096;                  // of one list: each may cost a read
constexpr std::uint64_t kLongestTable = 1 << 18;  // a picture of a hundred tiles has 4 KiB

constexpr std::string_view kXmpBox = "\xBE\x7A\xCF\xCB\x97\xA9\x42\xE8\x9C\x71\x99\x94\x91\xE3\xAF\xAC"sv;
constexpr std::string_view kCanonBox = "\x85\xC0\xB6\x87\x82\x0F\x11\xE0\x81\x11\xF4\xCE\x46\x2B\x6A\x48"sv;

// Calls `see(type, contents)` for every box that is all there.
template <typename See>
void each_box(ByteRange boxes, See see) {
  std::uint64_t at = 0;
  for (int count = 0; count < kMostBoxes; ++count) {
    if (boxes.read(at, 8).empty()) return;
    std::uint64_t size = boxes.number(at, 4), head = 8;
    const std::string type(as_text(boxes.read(at + 4, 4)));
    if (size == 1) {
      size = boxes.number(at + 8, 8);
      head = 16;
    } else if (size == 0) {
      size = boxes.size() - at;
    }
    if (size < head || size > boxes.size() - at) return;
    see(type, boxes.part(at + head, size - head));
    at += size;
  }
}

// Reads numbers one after the other; past the end they are 0 and good() is false.
class Numbers {
 public:
  explicit Numbers(std::span<const std::uint8_t> bytes) : left_(bytes) {}
  std::uint64_t take(std::uint64_t bytes) {
    if (bytes > left_.size()) {
      good_ = false;
      return 0;
    }
    const std::uint64_t value = number_of(left_.first(bytes), ByteOrder::big);
    left_ = left_.subspan(bytes);
    return value;
  }
  bool good() const { return good_; }

 private:
  std::span<const std::uint8_t> left_;
  bool good_ = true;
};

struct Items {
  std::optional<std::uint64_t> exif, xmp;  // their numbers
};

Items items_of(ByteRange infos) {
  Items items;
  const ByteRange entries = infos.part(infos.number(0, 1) == 0 ? 6 : 8);
  each_box(entries, [&](const std::string& type, ByteRange info) {
    const std::uint64_t version = info.number(0, 1);
    if (type != "infe" || version < 2) return;
    const std::uint64_t id_bytes = version == 2 ? 2 : 4, kind_at = 4 + id_bytes + 2;
    const std::uint64_t id = info.number(4, id_bytes);
    if (info.starts_with("Exif", kind_at) && !items.exif) items.exif = id;
    // Behind its name, which is mostly empty, stands what it is.
    constexpr std::string_view kXmp = "application/rdf+xml\0"sv;
    if (info.starts_with("mime", kind_at) && !items.xmp) {
      const ByteRange names = info.part(kind_at + 4);
      const std::string_view text = as_text(names.first(256));
      if (text.find(kXmp) != std::string_view::npos) items.xmp = id;
    }
  });
  return items;
}

// Where an item is that lies in one piece.
struct Place {
  bool in_data_box = false;
  std::uint64_t at = 0, size = 0;
};

std::optional<Place> place_of(ByteRange locations, std::uint64_t wanted) {
  Numbers numbers(locations.first(kLongestTable));
  const std::uint64_t version = numbers.take(1);
  numbers.take(3);
  const std::uint64_t sizes = numbers.take(2);
  const std::uint64_t offset_bytes = sizes >> 12 & 15, size_bytes = sizes >> 8 & 15, base_bytes = sizes >> 4 & 15;
  const std::uint64_t index_bytes = version == 0 ? 0 : sizes & 15;
  if (version > 2 || std::max({offset_bytes, size_bytes, base_bytes, index_bytes}) > 8) return std::nullopt;
  const std::uint64_t items = numbers.take(version < 2 ? 2 : 4);
  for (std::uint64_t i = 0; i < items && numbers.good(); ++i) {
    const std::uint64_t id = numbers.take(version < 2 ? 2 : 4);
    const std::uint64_t method = version == 0 ? 0 : numbers.take(2) & 15;
    const std::uint64_t elsewhere = numbers.take(2);
    const std::uint64_t base = numbers.take(base_bytes), extents = numbers.take(2);
    // Extents that take no bytes could be claimed by the billion.
    if (extents > 1 && index_bytes + offset_bytes + size_bytes == 0) return std::nullopt;
    Place place{method == 1, 0, 0};
    for (std::uint64_t e = 0; e < extents && numbers.good(); ++e) {
      numbers.take(index_bytes);
      place.at = base + numbers.take(offset_bytes);
      place.size = numbers.take(size_bytes);
    }
    if (id != wanted || !numbers.good()) continue;
    if (extents != 1 || elsewhere != 0 || method > 1 || place.at < base) return std::nullopt;
    return place;
  }
  return std::nullopt;
}

// HEIF's and JPEG XL's EXIF says first how many bytes stand before it.
ByteRange exif_behind_offset(ByteRange data) {
  return data.size() < 4 ? ByteRange() : data.part(4).part(data.number(0, 4));
}

// Items share profiles of colours. A map of brightness may have one of gray.
void add_profile(ByteRange properties, MetadataParts& parts) {
  constexpr std::uint64_t kSpaceAt = 16;
  each_box(properties, [&](const std::string& list, ByteRange container) {
    if (list != "ipco") return;
    each_box(container, [&](const std::string& type, ByteRange box) {
      if (type != "colr" || !parts.profile.empty() || (!box.starts_with("prof") && !box.starts_with("rICC"))) return;
      if (const ByteRange profile = box.part(4); profile.starts_with("RGB ", kSpaceAt)) parts.profile = {profile};
    });
  });
}

void add_items(ByteRange file, ByteRange meta, MetadataParts& parts) {
  Items items;
  ByteRange locations, data;
  each_box(meta.part(4), [&](const std::string& type, ByteRange box) {
    if (type == "iprp") add_profile(box, parts);
    if (type == "iinf") items = items_of(box);
    if (type == "iloc") locations = box;
    if (type == "idat") data = box;
  });
  const auto contents = [&](std::optional<std::uint64_t> item) {
    const auto place = item ? place_of(locations, *item) : std::nullopt;
    if (!place) return ByteRange();
    const ByteRange& in = place->in_data_box ? data : file;
    return place->size == 0 ? in.part(place->at) : in.part(place->at, place->size);
  };
  if (const ByteRange exif = exif_behind_offset(contents(items.exif)); !exif.empty()) parts.exif.push_back({exif});
  if (const ByteRange xmp = contents(items.xmp); !xmp.empty()) parts.xmp = xmp;
}

// A CR3's directories are structures of their own.
void add_canon(ByteRange boxes, MetadataParts& parts) {
  each_box(boxes, [&](const std::string& type, ByteRange box) {
    if (parts.exif.size() > 4) return;
    if (type == "CMT1") parts.exif.push_back({box});
    if (type == "CMT2") parts.exif.push_back({box, TiffDirectory::exif});
    if (type == "CMT4") parts.exif.push_back({box, TiffDirectory::gps});
    if (type == "CMT3") parts.maker_note = !box.empty();
  });
}

}  // namespace

void find_parts_in_boxes(ByteRange file, MetadataParts& parts) {
  bool meta = false;
  each_box(file, [&](const std::string& type, ByteRange box) {
    if (type == "meta" && !meta) {
      meta = true;
      add_items(file, box, parts);
    }
    if (type == "Exif" && parts.exif.empty()) parts.exif.push_back({exif_behind_offset(box)});
    if (type == "xml " && !parts.xmp) parts.xmp = box;
    if (type == "uuid" && box.starts_with(kXmpBox) && !parts.xmp) parts.xmp = box.part(kXmpBox.size());
    // Tracks make a HEIF file a sequence; those of a CR3 are its pictures.
    if (type == "moov") parts.sequence = true;
    if (type == "mpvd" && parts.films.size() < kMostFilms) parts.films.push_back(box);
    if (type == "moov") {
      each_box(box, [&](const std::string& inner, ByteRange canon) {
        if (inner == "uuid" && canon.starts_with(kCanonBox)) add_canon(canon.part(kCanonBox.size()), parts);
      });
    }
  });
}

}  // namespace millrace
