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

constexpr std::uint64_t kMaxTableBytes = 1 << 18;  // bytes; a picture of a hundred tiles has 4 KiB
constexpr std::size_t kMaxItems = 4096, kMaxPictures = 64;

struct HeifItem {
  std::string kind;  // "hvc1", "grid", "Exif", ...
  bool hidden = false;
};

struct HeifItemTable {
  std::optional<std::uint64_t> exif, xmp;  // item numbers
  std::map<std::uint64_t, HeifItem> items;
};

HeifItemTable read_item_infos(ByteRange infos) {
  HeifItemTable out;
  const ByteRange entries = infos.part(infos.number(0, 1) == 0 ? 6 : 8);
  for_each_box(entries, [&](const std::string& type, ByteRange info) {
    const std::uint64_t version = info.number(0, 1);
    if (type != "infe" || version < 2 || out.items.size() >= kMaxItems) return;
    const std::uint64_t id_bytes = version == 2 ? 2 : 4, kind_at = 4 + id_bytes + 2;
    const std::uint64_t id = info.number(4, id_bytes);
    out.items.try_emplace(id, HeifItem{std::string(as_text(info.read(kind_at, 4))), (info.number(3, 1) & 1) != 0});
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
struct ItemReference {
  std::string kind;
  std::uint64_t from = 0;
  std::vector<std::uint64_t> to;
};

std::vector<ItemReference> read_item_references(ByteRange box) {
  std::vector<ItemReference> out;
  const std::uint64_t id_bytes = box.number(0, 1) == 0 ? 2 : 4;
  for_each_box(box.part(4), [&](const std::string& kind, ByteRange reference) {
    if (out.size() >= kMaxItems) return;
    BoxNumberReader numbers(reference.first(kMaxTableBytes));
    ItemReference next{kind, numbers.take(id_bytes), {}};
    const std::uint64_t count = numbers.take(2);
    for (std::uint64_t i = 0; i < count && numbers.good(); ++i) next.to.push_back(numbers.take(id_bytes));
    if (numbers.good()) out.push_back(std::move(next));
  });
  return out;
}

// Locations of items, each in one extent or several; none for an item that lies in another file or item.
class ItemLocations {
 public:
  ItemLocations() = default;
  ItemLocations(ByteRange file, ByteRange table, ByteRange data) : file_(file), data_(data) {
    BoxNumberReader numbers(table.first(kMaxTableBytes));
    const std::uint64_t version = numbers.take(1);
    numbers.take(3);
    const std::uint64_t sizes = numbers.take(2);
    const std::uint64_t offset_bytes = sizes >> 12 & 15, size_bytes = sizes >> 8 & 15, base_bytes = sizes >> 4 & 15;
    const std::uint64_t index_bytes = version == 0 ? 0 : sizes & 15;
    if (version > 2 || std::max({offset_bytes, size_bytes, base_bytes, index_bytes}) > 8) return;
    const std::uint64_t items = numbers.take(version < 2 ? 2 : 4);
    for (std::uint64_t i = 0; i < items && numbers.good() && places_.size() < kMaxItems; ++i) {
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
  std::vector<ByteRange> find_extents(std::uint64_t id) const {
    const auto at = places_.find(id);
    return at == places_.end() ? std::vector<ByteRange>() : at->second;
  }
  ByteRange find_single_extent(std::optional<std::uint64_t> id) const {
    const auto pieces = id ? find_extents(*id) : std::vector<ByteRange>();
    return pieces.size() == 1 ? pieces[0] : ByteRange();
  }

 private:
  ByteRange file_, data_;
  std::map<std::uint64_t, std::vector<ByteRange>> places_;
};

// Takes the first RGB profile: items share ICC profiles, and a gain map may have a gray one.
void add_profile(ByteRange container, MetadataLocations& locations) {
  constexpr std::uint64_t kSpaceAt = 16;
  for_each_box(container, [&](const std::string& type, ByteRange box) {
    if (type != "colr" || !locations.profile.empty() || (!box.starts_with("prof") && !box.starts_with("rICC"))) return;
    if (const ByteRange profile = box.part(4); profile.starts_with("RGB ", kSpaceAt)) locations.profile = {profile};
  });
}

// Returns the items whose properties say that they are the alpha channel of another item.
std::set<std::uint64_t> find_alpha_items(ByteRange properties) {
  std::vector<bool> alpha;  // for each property
  std::set<std::uint64_t> out;
  for_each_box(properties, [&](const std::string& list, ByteRange container) {
    if (list == "ipco") {
      for_each_box(container, [&](const std::string& type, ByteRange box) {
        const ByteRange name = box.part(4);
        alpha.push_back(type == "auxC" && (name.starts_with("urn:mpeg:hevc:2015:auxid:1\0"sv) ||
                                           name.starts_with("urn:mpeg:avc:2015:auxid:1\0"sv) ||
                                           name.starts_with("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha")));
      });
    }
    if (list != "ipma") return;
    BoxNumberReader numbers(container.first(kMaxTableBytes));
    const std::uint64_t version = numbers.take(1), flags = numbers.take(3), entries = numbers.take(4);
    for (std::uint64_t e = 0; e < entries && numbers.good(); ++e) {
      const std::uint64_t id = numbers.take(version < 1 ? 2 : 4), count = numbers.take(1);
      for (std::uint64_t i = 0; i < count && numbers.good(); ++i) {
        const std::uint64_t index = (flags & 1) != 0 ? numbers.take(2) & 0x7FFF : numbers.take(1) & 0x7F;
        if (index > 0 && index <= alpha.size() && alpha[index - 1] && out.size() < kMaxItems) out.insert(id);
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

struct HeifMeta {
  std::uint64_t primary = 0;
  HeifItemTable infos;
  std::vector<ItemReference> references;
  std::set<std::uint64_t> alphas;
};

// Adds the pictures besides the primary one: no tiles or layers of another picture, no thumbnails, no alpha channels. A
// tone map (tmap) refers to the primary picture and a gain map; only the gain map is added.
void add_pictures(const HeifMeta& meta, const ItemLocations& item_locations, MetadataLocations& locations) {
  if (meta.primary == 0) return;  // unknown which picture is shown
  std::map<std::uint64_t, std::vector<std::uint64_t>> made_of;
  std::set<std::uint64_t> left_out = {meta.primary};
  for (const ItemReference& reference : meta.references) {
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
    if (!is_picture(item.kind) || left_out.count(id) > 0 || locations.pictures.size() >= kMaxPictures) continue;
    std::vector<ByteRange> pieces = item_locations.find_extents(id);
    for (const std::uint64_t piece : made_of[id]) {
      const auto more = item_locations.find_extents(piece);
      pieces.insert(pieces.end(), more.begin(), more.end());
    }
    locations.pictures.push_back(std::move(pieces));
  }
}

}  // namespace

ByteRange skip_exif_offset(ByteRange data) {
  return data.size() < 4 ? ByteRange() : data.part(4).part(data.number(0, 4));
}

void add_heif_items(ByteRange file, ByteRange meta, MetadataLocations& locations) {
  HeifMeta found;
  ByteRange table, data;
  for_each_box(meta.part(4), [&](const std::string& type, ByteRange box) {
    if (type == "pitm") found.primary = box.number(4, box.number(0, 1) == 0 ? 2 : 4);
    if (type == "iinf") found.infos = read_item_infos(box);
    if (type == "iref") found.references = read_item_references(box);
    if (type == "iloc") table = box;
    if (type == "idat") data = box;
    if (type != "iprp") return;
    found.alphas = find_alpha_items(box);
    for_each_box(box, [&](const std::string& list, ByteRange container) {
      if (list == "ipco") add_profile(container, locations);
    });
  });
  const ItemLocations item_locations(file, table, data);
  if (const ByteRange exif = skip_exif_offset(item_locations.find_single_extent(found.infos.exif)); !exif.empty())
    locations.exif.push_back({exif});
  if (const ByteRange xmp = item_locations.find_single_extent(found.infos.xmp); !xmp.empty()) locations.xmp = xmp;
  add_pictures(found, item_locations, locations);
}

}  // namespace millrace
