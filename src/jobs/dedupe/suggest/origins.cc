#include "src/jobs/dedupe/suggest/origins.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "src/base/text.h"
#include "src/io/image/reserving_sink.h"
#include "src/io/image/sidecar.h"
#include "src/jobs/dedupe/scan/companions.h"

namespace millrace::dedupe {
namespace {

// Version of the records. Increase it whenever a file may be read differently, or the format changes.
constexpr std::uint32_t kOriginsVersion = 4;

// Writes a record for the catalog: texts with their lengths, numbers as they are in memory.
class FieldWriter {
 public:
  void text(const std::string& value) {
    number(static_cast<std::uint32_t>(value.size()));
    out.insert(out.end(), value.begin(), value.end());
  }
  template <typename T>
  void number(T value) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
    out.insert(out.end(), bytes, bytes + sizeof value);
  }
  std::vector<std::uint8_t> out;
};

class FieldReader {
 public:
  explicit FieldReader(std::span<const std::uint8_t> bytes) : left_(bytes) {}
  void text(std::string& value) {
    std::uint32_t size = 0;
    number(size);
    if (size > left_.size()) good_ = false;
    if (!good_) return;
    value.assign(reinterpret_cast<const char*>(left_.data()), size);
    left_ = left_.subspan(size);
  }
  template <typename T>
  void number(T& value) {
    if (sizeof value > left_.size()) good_ = false;
    if (!good_) return;
    std::memcpy(&value, left_.data(), sizeof value);
    left_ = left_.subspan(sizeof value);
  }
  bool done() const { return good_ && left_.empty(); }

 private:
  std::span<const std::uint8_t> left_;
  bool good_ = true;
};

constexpr std::size_t kFlags = 8;
std::array<bool*, kFlags> flags_of(Provenance& p) {
  return {&p.maker_note, &p.edited_by_program, &p.title,     &p.description,
          &p.gps,        &p.colour_label,      &p.developed, &p.has_custom_tables};
}

// Visits the fields in the same order for writing and reading.
template <class Texts, class Numbers>
void each_field(Provenance& p, const Texts& text, const Numbers& number) {
  for (std::string* field : {&p.make, &p.model, &p.serial, &p.software, &p.taken, &p.subsecond, &p.offset})
    text(*field);
  for (Rational* r : {&p.exposure_time, &p.f_number, &p.exposure_bias}) {
    number(r->numerator);
    number(r->denominator);
  }
  for (std::uint32_t* n : {&p.iso, &p.exif_width, &p.exif_height, &p.keywords, &p.people}) number(*n);
  number(p.rating);
  number(p.jpeg_quality);
  number(p.tables);
}

constexpr std::size_t kMaxHoldings = 1000;  // largest number of holdings per file; readers of files stop at some 200

std::vector<std::uint8_t> bytes_of(Origin origin) {
  Provenance& p = origin.provenance;
  FieldWriter writer;
  each_field(
      p, [&](std::string& value) { writer.text(value); }, [&](auto& value) { writer.number(value); });
  std::uint8_t bits = 0;
  const auto flags = flags_of(p);
  for (std::size_t i = 0; i < kFlags; ++i) bits = static_cast<std::uint8_t>(bits | (*flags[i] ? 1U << i : 0U));
  writer.number(bits);
  const std::size_t count = std::min(p.extra_data.size(), kMaxHoldings);
  writer.number(static_cast<std::uint32_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    writer.number(p.extra_data[i].what);
    writer.number(p.extra_data[i].hash);
  }
  writer.text(origin.raw_damage);
  return std::move(writer.out);
}

// Discards the rows; used for the other results of a decoder.
class DiscardedRows : public ReservingSink {
 public:
  using ReservingSink::ReservingSink;
  void rows(const std::uint8_t*, std::ptrdiff_t, int) override {}

 private:
  void begin_rows(const PictureInfo&) override {}
};

Outcome<DecodeResult> decode_without_rows(const std::string& path, const DecodeOptions& options, Budget& budget) {
  auto file = FileReader::open(path, FileReader::Hashing::off);
  if (!file) return file.error();
  DiscardedRows sink(budget, options.cancelled, escape_unprintable(path));
  return decode_picture(**file, options, sink);
}

// Result of decoding a RAW file with its RAW data.
struct RawData {
  std::string damage;  // empty if the data is complete
  bool known = true;   // false: the result is true of this run alone
};
RawData raw_data_of(const std::string& path, DecodeOptions decoding, Budget& budget) {
  decoding.raw_data = true;
  const auto whole = decode_without_rows(path, decoding, budget);
  if (whole) return {whole->damaged ? whole->damage : ""};
  const Error& error = whole.error();
  if (error.code == ErrorCode::bad_data) return {error.what};
  return {fmt::format("its RAW data was not checked: {}", error.what), false};
}

// Adds to a picture the videos that have its Live Photo identifier, and removes those of another.
void find_live_films(LibraryFile& file, Library& library, LivePhotoVideos& live_photo_videos) {
  if (!library.pictures[file.picture].data.camera.starts_with("Apple")) return;
  const std::string& path = file.entry.path;
  std::erase_if(file.companions, [&](const std::string& companion) {
    return is_video(companion) && live_photo_videos.has_other_identifier(companion, path);
  });
  for (std::string& film : live_photo_videos.of(path)) {
    if (library.videos.erase(film) > 0) library.unsupported_files.remove_file(film);
    file.companions.push_back(std::move(film));
  }
  std::sort(file.companions.begin(), file.companions.end());
  file.has_video = std::any_of(file.companions.begin(), file.companions.end(), is_video);
}

// True if an earlier version wrote the row without `unshown`, and the format may hold more than the picture.
bool can_hold_more_content(const CatalogPicture& picture) {
  const auto format = static_cast<ImageFormat>(picture.format);
  return !picture.unshown && !picture.failed && format != ImageFormat::jpeg && format != ImageFormat::raw;
}

}  // namespace

void Origins::read(std::span<const std::uint32_t> files, Library& library, const PictureFileOptions& options,
                   Catalog& catalog, RunContext& context) {
  std::vector<std::uint32_t> wanted;
  for (const std::uint32_t f : files) {
    if (known_.count(f) == 0) wanted.push_back(f);
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  // Copies of one content have the same origin, so only one of them is read.
  struct Content {
    std::uint32_t file;
    Origin origin;
    bool fresh = false;
    std::optional<UnshownData> unshown{};  // asked from the decoder in this run
  };
  std::vector<Content> contents;
  const auto picture = [&](const Content& c) -> CatalogPicture& {
    return library.pictures[library.files[c.file].picture].data;
  };
  const auto hash = [&](const Content& c) -> const ContentHash& { return picture(c).content; };
  std::unordered_map<std::uint32_t, std::size_t> of_picture;
  for (const std::uint32_t f : wanted) {
    if (of_picture.try_emplace(library.files[f].picture, 0).second) contents.push_back({f, {}, false});
  }
  // The order of the catalog's rows, in which neighbours share database pages.
  std::sort(contents.begin(), contents.end(), [&](const Content& a, const Content& b) { return hash(a) < hash(b); });
  for (std::size_t i = 0; i < contents.size(); ++i) {
    Content& content = contents[i];
    of_picture[library.files[content.file].picture] = i;
    const auto kept = catalog.origin(hash(content));
    auto known = kept ? decode_origin(*kept) : std::nullopt;
    content.fresh = !known;
    if (known) content.origin = std::move(*known);
  }
  const DecodeOptions decoding = decode_options(options, context);
  context.executor.parallel_for(contents.size(), 16, [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to && !context.cancel.cancelled(); ++i) {
      Content& content = contents[i];
      const std::string& path = library.files[content.file].entry.path;
      if (can_hold_more_content(picture(content))) {
        if (const auto all = decode_without_rows(path, decoding, context.budget)) content.unshown = all->unshown;
      }
      if (!content.fresh) continue;
      auto read = read_provenance(path);
      // A file that cannot be read now has no origin in this run, and is read again in the next.
      content.fresh = read.ok();
      if (read) content.origin.provenance = std::move(*read);
      if (static_cast<ImageFormat>(picture(content).format) != ImageFormat::raw) continue;
      RawData data = raw_data_of(path, decoding, context.budget);
      content.fresh = content.fresh && data.known;
      content.origin.raw_damage = std::move(data.damage);
    }
  });
  context.throw_if_cancelled();
  for (const Content& content : contents) {
    if (content.fresh) catalog.put(encode_for_catalog(hash(content), content.origin));
    // Albums may show one content as several pictures.
    const auto [first, end] = find_picture_range(library.pictures, hash(content));
    for (std::uint32_t p = first; p < end; ++p) {
      CatalogPicture& data = library.pictures[p].data;
      if (content.unshown) data.unshown = content.unshown;
      // `unshown` is never asked for a RAW file, so a row that is written here has the damage that the scan found.
      if (content.unshown && p == first) catalog.put(data, {});
      if (data.damage.empty()) data.damage = content.origin.raw_damage;
    }
  }
  if (!live_photo_videos_)
    live_photo_videos_.emplace(std::vector<std::string>(library.videos.begin(), library.videos.end()));
  for (const std::uint32_t f : wanted) find_live_films(library.files[f], library, *live_photo_videos_);
  for (const std::uint32_t f : wanted) {
    const Content& content = contents[of_picture.at(library.files[f].picture)];
    Provenance provenance = content.origin.provenance;
    provenance.extra_data = holdings_of(picture(content), content.origin);
    for (const std::string& companion : library.files[f].companions) add_sidecar_facts(companion, provenance);
    known_.emplace(f, std::move(provenance));
  }
  // The detailed check reads the pictures' colour profiles from the catalog.
  catalog.flush();
}

std::optional<Origin> decode_origin(const CatalogOrigin& kept) {
  if (kept.version != kOriginsVersion) return std::nullopt;
  Origin origin;
  Provenance& out = origin.provenance;
  FieldReader reader(kept.provenance);
  each_field(
      out, [&](std::string& value) { reader.text(value); }, [&](auto& value) { reader.number(value); });
  std::uint8_t bits = 0;
  reader.number(bits);
  const auto flags = flags_of(out);
  for (std::size_t i = 0; i < kFlags; ++i) *flags[i] = (bits >> i & 1) != 0;
  std::uint32_t count = 0;
  reader.number(count);
  if (count > kMaxHoldings) return std::nullopt;
  out.extra_data.resize(count);
  for (ExtraData& held : out.extra_data) {
    reader.number(held.what);
    reader.number(held.hash);
    if (static_cast<int>(held.what) >= kExtraDataKinds) return std::nullopt;
  }
  reader.text(origin.raw_damage);
  return reader.done() ? std::optional(std::move(origin)) : std::nullopt;
}

CatalogOrigin encode_for_catalog(const ContentHash& content, const Origin& origin) {
  return {content, kOriginsVersion, bytes_of(origin)};
}

std::vector<ExtraData> holdings_of(const CatalogPicture& picture, const Origin& origin) {
  std::vector<ExtraData> out = origin.provenance.extra_data;
  if (can_hold_more_content(picture)) out.push_back({ExtraDataKind::unknown, 0});
  if (static_cast<ImageFormat>(picture.format) == ImageFormat::raw) out.push_back({ExtraDataKind::raw_data, 0});
  if (picture.unshown) add_unshown_data(*picture.unshown, out);
  return out;
}

const Provenance& Origins::find_provenance(std::uint32_t file) const {
  static const Provenance kNothing;
  const auto at = known_.find(file);
  return at == known_.end() ? kNothing : at->second;
}

int score_originality(const Provenance& origin, std::string_view path, const CatalogPicture& picture) {
  const std::string_view name = file_name(path);
  const std::size_t dot = name.find_last_of('.');
  const std::string stem = lower_ascii(name.substr(0, dot));
  if (stem.ends_with("-edited")) return 0;
  // For a file without a camera, the program named in it may be its creator, so that does not count against it.
  if (origin.make.empty() && origin.model.empty()) return 1;
  // A program that scales a picture copies the EXIF, which still has the original size.
  const auto wide = static_cast<int>(origin.exif_width), high = static_cast<int>(origin.exif_height);
  const bool has_size = wide > 0 && high > 0;
  const bool turned = wide == picture.height && high == picture.width;
  const bool scaled = has_size && !turned && (wide != picture.width || high != picture.height);
  if (origin.edited_by_program || scaled) return 2;
  // Programs that save a picture again usually drop the camera's notes and write their own JPEG tables.
  return (origin.maker_note ? 1 : 0) + (origin.jpeg_quality == 0 ? 1 : 0) + 2;
}

int score_user_metadata(const Provenance& origin) {
  return (origin.rating > 0 ? 1 + origin.rating : 0) + (origin.favourite ? 2 : 0) + (origin.keywords > 0 ? 2 : 0) +
         (origin.people > 0 ? 2 : 0) + (origin.title ? 1 : 0) + (origin.description ? 1 : 0) + (origin.gps ? 1 : 0) +
         (origin.colour_label ? 1 : 0) + (origin.developed ? 2 : 0);
}

}  // namespace millrace::dedupe
