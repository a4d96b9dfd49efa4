// HEIF items, by ISO/IEC 23008-12: their properties and references, and EXIF by its annex A.
#include "src/io/image/metadata/heif_items.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "src/io/image/metadata/box_reader.h"

namespace millrace {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t kLongestTable = 1 << 18;  // bytes; a picture of a hundred tiles has 4 KiB
constexpr std::size_t kMostItems = 4096, kMostPictures = 64;

struct Item {
  std::string kind;  // "hvc1", "grid", "Exif", ...
  bool hidden = false;
};

struct ItemInfos {
  std::optional<std::uint64_t> exif, xmp;  // item numbers
  std::map<std::uint64_t, Item> items;
};

ItemInfos infos_of(ByteRange infos) {
  ItemInfos out;
  const ByteRange entries = infos.part(infos.number(0, 1) == 0 ? 6 : 8);
  each_box(entries, [&](const std::string& type, ByteRange info) {
    const std::uint64_t version = info.number(0, 1);
    if (type != "infe" || version < 2 || out.items.size() >= kMostItems) return;
    const std::uint64_t id_bytes = version == 2 ? 2 : 4, kind_at = 4 + id_bytes + 2;
    const std::uint64_t id = info.number(4, id_bytes);
    out.items.try_emplace(id, Item{std::string(as_text(info.read(kind_at, 4))), (info.number(3, 1) & 1) != 0});
    if (info.starts_with("Exif", kind_at) && !out.exif) out.exif = id;
    // The content type follows the item's name, which is mostly empty.
    constexpr std::string_view kXmp = "application/rdf+xml\0"sv;
    if (info.starts_with("mime", kind_at) && !out.xmp) {
      const ByteRange names = info.part(kind_at + 4);
      if (as_text(names.first(256)).find(kXmp) != std::string_view::npos) out.xmp = id;
    }
  });
  return out;
}

// A reference from one item to others: to its tiles, or to the picture that it belongs to.
struct Reference {
  std::string kind;
  std::uint64_t from = 0;
  std::vector<std::uint64_t> to;
};

std::vector<Reference> references_of(ByteRange box) {
  std::vector<Reference> out;
  const std::uint64_t id_bytes = box.number(0, 1) == 0 ? 2 : 4;
  each_box(box.part(4), [&](const std::string& kind, ByteRange reference) {
    if (out.size() >= kMostItems) return;
    BoxNumbers numbers(reference.first(kLongestTable));
    Reference next{kind, numbers.take(id_bytes), {}};
    const std::uint64_t count = numbers.take(2);
    for (std::uint64_t i = 0; i < count && numbers.good(); ++i) next.to.push_back(numbers.take(id_bytes));
    if (numbers.good()) out.push_back(std::move(next));
  });
  return out;
}

// Locations of items, each in one extent or several; none for an item that lies in another file or item.
class Locations {
 public:
  Locations() = default;
  Locations(ByteRange file, ByteRange table, ByteRange data) : file_(file), data_(data) {
    BoxNumbers numbers(table.first(kLongestTable));
    const std::uint64_t version = numbers.take(1);
    numbers.take(3);
    const std::uint64_t sizes = numbers.take(2);
    const std::uint64_t offset_bytes = sizes >> 12 & 15, size_bytes = sizes >> 8 & 15, base_bytes = sizes >> 4 & 15;
    const std::uint64_t index_bytes = version == 0 ? 0 : sizes & 15;
    if (version > 2 || std::max({offset_bytes, size_bytes, base_bytes, index_bytes}) > 8) return;
    const std::uint64_t items = numbers.take(version < 2 ? 2 : 4);
    for (std::uint64_t i = 0; i < items && numbers.good() && places_.size() < kMostItems; ++i) {
      const std::uint64_t id = numbers.take(version < 2 ? 2 : 4);
      const std::uint64_t method = version == 0 ? 0 : numbers.take(2) & 15;
      const std::uint64_t elsewhere = numbers.take(2);
      const std::uint64_t base = numbers.take(base_bytes), extents = numbers.take(2);
      // Extents of zero bytes could be claimed by the billion.
      if (extents > 1 && index_bytes + offset_bytes + size_bytes == 0) return;
      std::vector<ByteRange> pieces;
      bool here = elsewhere == 0 && method <= 1;
      for (std::uint64_t e = 0; e < extents && numbers.good(); ++e) {
        numbers.take(index_bytes);
        const std::uint64_t at = base + numbers.take(offset_bytes), size = numbers.take(size_bytes);
        here = here && at >= base;
        const ByteRange& in = method == 1 ? data_ : file_;
        if (here) pieces.push_back(size == 0 ? in.part(at) : in.part(at, size));
      }
      if (numbers.good() && here) places_.try_emplace(id, std::move(pieces));
    }
  }
  std::vector<ByteRange> of(std::uint64_t id) const {
    const auto at = places_.find(id);
    return at == places_.end() ? std::vector<ByteRange>() : at->second;
  }
  ByteRange one(std::optional<std::uint64_t> id) const {
    const auto pieces = id ? of(*id) : std::vector<ByteRange>();
    return pieces.size() == 1 ? pieces[0] : ByteRange();
  }

 private:
  ByteRange file_, data_;
  std::map<std::uint64_t, std::vector<ByteRange>> places_;
};

// Takes the first RGB profile: items share ICC profiles, and a gain map may have a gray one.
void add_profile(ByteRange container, MetadataParts& parts) {
  constexpr std::uint64_t kSpaceAt = 16;
  each_box(container, [&](const std::string& type, ByteRange box) {
    if (type != "colr" || !parts.profile.empty() || (!box.starts_with("prof") && !box.starts_with("rICC"))) return;
    if (const ByteRange profile = box.part(4); profile.starts_with("RGB ", kSpaceAt)) parts.profile = {profile};
  });
}

// Returns the items whose properties say that they are the alpha channel of another item.
std::set<std::uint64_t> alphas_of(ByteRange properties) {
  std::vector<bool> alpha;  // for each property
  std::set<std::uint64_t> out;
  each_box(properties, [&](const std::string& list, ByteRange container) {
    if (list == "ipco") {
      each_box(container, [&](const std::string& type, ByteRange box) {
        const ByteRange name = box.part(4);
        alpha.push_back(type == "auxC" && (name.starts_with("urn:mpeg:hevc:2015:auxid:1\0"sv) ||
                                           name.starts_with("urn:mpeg:avc:2015:auxid:1\0"sv) ||
                                           name.starts_with("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha")));
      });
    }
    if (list != "ipma") return;
    BoxNumbers numbers(container.first(kLongestTable));
    const std::uint64_t version = numbers.take(1), flags = numbers.take(3), entries = numbers.take(4);
    for (std::uint64_t e = 0; e < entries && numbers.good(); ++e) {
      const std::uint64_t id = numbers.take(version < 1 ? 2 : 4), count = numbers.take(1);
      for (std::uint64_t i = 0; i < count && numbers.good(); ++i) {
        const std::uint64_t index = (flags & 1) != 0 ? numbers.take(2) & 0x7FFF : numbers.take(1) & 0x7F;
        if (index > 0 && index <= alpha.size() && alpha[index - 1] && out.size() < kMostItems) out.insert(id);
      }
    }
  });
  return out;
}

bool is_picture(const std::string& kind) {
  static const std::set<std::string> kKinds = {"hvc1", "hev1", "av01", "avc1", "jpeg", "j2k1",
                                               "vvc1", "unci", "grid", "iovl", "iden", "tmap"};
  return kKinds.count(kind) > 0;
}

struct Meta {
  std::uint64_t primary = 0;
  ItemInfos infos;
  std::vector<Reference> references;
  std::set<std::uint64_t> alphas;
};

// Adds the pictures besides the primary one: no tiles or layers of another picture, no thumbnails, no alpha channels. A
// tone map (tmap) refers to the primary picture and a gain map; only the gain map is added.
void add_pictures(const Meta& meta, const Locations& locations, MetadataParts& parts) {
  if (meta.primary == 0) return;  // unknown which picture is shown
  std::map<std::uint64_t, std::vector<std::uint64_t>> made_of;
  std::set<std::uint64_t> left_out = {meta.primary};
  for (const Reference& reference : meta.references) {
    const auto from = meta.infos.items.find(reference.from);
    if (reference.kind == "thmb") left_out.insert(reference.from);
    if (reference.kind != "dimg" || from == meta.infos.items.end()) continue;
    made_of[reference.from] = reference.to;
    if (from->second.kind == "tmap") {
      left_out.insert(reference.from);
    } else {
      left_out.insert(reference.to.begin(), reference.to.end());
    }
  }
  left_out.insert(meta.alphas.begin(), meta.alphas.end());
  for (const auto& [id, item] : meta.infos.items) {
    if (!is_picture(item.kind) || left_out.count(id) > 0 || parts.pictures.size() >= kMostPictures) continue;
    std::vector<ByteRange> pieces = locations.of(id);
    for (const std::uint64_t piece : made_of[id]) {
      const auto more = locations.of(piece);
      pieces.insert(pieces.end(), more.begin(), more.end());
    }
    parts.pictures.push_back(std::move(pieces));
  }
}

}  // namespace

ByteRange exif_behind_offset(ByteRange data) {
  return data.size() < 4 ? ByteRange() : data.part(4).part(data.number(0, 4));
}

void add_heif_items(ByteRange file, ByteRange meta, MetadataParts& parts) {
  Meta found;
  ByteRange table, data;
  each_box(meta.part(4), [&](const std::string& type, ByteRange box) {
    if (type == "pitm") found.primary = box.number(4, box.number(0, 1) == 0 ? 2 : 4);
    if (type == "iinf") found.infos = infos_of(box);
    if (type == "iref") found.references = references_of(box);
    if (type == "iloc") table = box;
    if (type == "idat") data = box;
    if (type != "iprp") return;
    found.alphas = alphas_of(box);
    each_box(box, [&](const std::string& list, ByteRange container) {
      if (list == "ipco") add_profile(container, parts);
    });
  });
  const Locations locations(file, table, data);
  if (const ByteRange exif = exif_behind_offset(locations.one(found.infos.exif)); !exif.empty())
    parts.exif.push_back({exif});
  if (const ByteRange xmp = locations.one(found.infos.xmp); !xmp.empty()) parts.xmp = xmp;
  add_pictures(found, locations, parts);
}

}  // namespace millrace
