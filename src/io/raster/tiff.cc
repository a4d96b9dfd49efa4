#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "src/base/error.h"
#include "src/io/file/resumable_file.h"
#include "src/io/raster/formats.h"

namespace millrace::raster {
namespace {

// BigTIFF, little-endian: the design of Adobe's TIFF 6.0 with offsets of 64 bits, as in libtiff 4.
enum Tag : std::uint16_t {
  kWidth = 256,
  kHeight = 257,
  kBitsPerSample = 258,
  kCompression = 259,
  kPhotometric = 262,
  kSamplesPerPixel = 277,
  kPlanarConfiguration = 284,
  kSoftware = 305,
  kPredictor = 317,
  kColorMap = 320,
  kExtraSamples = 338,
  kTileWidth = 322,
  kTileLength = 323,
  kTileOffsets = 324,
  kTileByteCounts = 325,
  kSampleFormat = 339,
};
enum Type : std::uint16_t { kText = 2, kShort = 3, kLong = 4, kLong8 = 16 };
constexpr std::uint64_t kHeader = 16;

// Fields of an image's directory, in the order of their tags, with the values that do not fit into them.
class Directory {
 public:
  template <typename T>
  void add(Tag tag, Type type, const std::vector<T>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    fields_.push_back({tag, type, values.size(), std::move(bytes)});
  }
  void add(Tag tag, std::uint16_t value) { add(tag, kShort, std::vector<std::uint16_t>{value}); }

  // Returns the bytes of the directory at `offset` of a file.
  std::vector<std::byte> bytes(std::uint64_t offset) const {
    std::vector<std::byte> out, more;
    const std::uint64_t behind = offset + 8 + fields_.size() * 20 + 8;
    put(out, std::uint64_t{fields_.size()});
    for (const Field& field : fields_) {
      put(out, field.tag);
      put(out, field.type);
      put(out, field.count);
      if (field.bytes.size() <= 8) {
        out.insert(out.end(), field.bytes.begin(), field.bytes.end());
        out.resize(out.size() + 8 - field.bytes.size());
      } else {
        put(out, behind + more.size());
        more.insert(more.end(), field.bytes.begin(), field.bytes.end());
        more.resize((more.size() + 7) / 8 * 8);
      }
    }
    put(out, std::uint64_t{0});  // no other image follows
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }

  template <typename T>
  static void put(std::vector<std::byte>& out, T value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    out.insert(out.end(), bytes.begin(), bytes.end());
  }

 private:
  struct Field {
    std::uint16_t tag, type;
    std::uint64_t count;
    std::vector<std::byte> bytes;
  };
  std::vector<Field> fields_;
};

// Writes tiles in the order in which their rows arrive, then the directory.
class TiffRaster : public RasterWriter {
 public:
  TiffRaster(const RasterSpec& spec, const std::string& path, std::uint64_t rows, const std::string& saved)
      : spec_(spec), tile_(tiff_tile(spec)), rows_(spec_, tile_), pending_file_(path), file_(open(path, saved)) {
    across_ = (spec.width + tile_.width - 1) / tile_.width;
    if (saved.empty()) {
      file_.append(std::as_bytes(std::span<const std::uint8_t>({'I', 'I', 43, 0, 8, 0, 0, 0})));
      file_.append(std::vector<std::byte>(8));
    } else {
      lengths_.resize(rows / tile_.height * across_ * spec.planes);
      pending_file_ = PendingDataFile(path, parse_numbers(saved, 2)[1]);
      pending_file_.restore({std::as_writable_bytes(std::span(lengths_)), rows_.restore(rows)});
    }
    raw_.resize(tile_.height * tile_.width * spec.samples * spec.type.bytes());
  }

  void append(std::span<const std::byte> row) override {
    if (!rows_.append(row)) return;
    for (std::uint64_t plane = 0; plane < spec_.planes; ++plane) {
      for (std::uint64_t column = 0; column < across_; ++column) {
        rows_.tile(plane, column, raw_);
        if (spec_.samples > 1) apply_predictor();
        add_tile();
      }
    }
    rows_.next();
  }
  std::string save() override {
    file_.sync();
    return format_numbers(
        {file_.size(), pending_file_.save_data({std::as_bytes(std::span(lengths_)), rows_.pending_rows()})});
  }
  void finish() override {
    const std::uint64_t at = (file_.size() + 7) / 8 * 8;
    file_.append(std::vector<std::byte>(at - file_.size()));
    file_.append(directory().bytes(at));
    file_.write_at(8, std::as_bytes(std::span(&at, 1)));
    file_.finish();
  }

 private:
  static ResumableFile open(const std::string& path, const std::string& saved) {
    return saved.empty() ? ResumableFile(path) : ResumableFile(path, parse_numbers(saved, 2)[0]);
  }

  // Replaces each sample by its difference to the one before it in its row (TIFF 6.0, section 14).
  void apply_predictor() {
    const std::size_t row = tile_.width * spec_.samples;
    for (std::size_t r = 0; r < tile_.height; ++r) {
      auto* const at = reinterpret_cast<std::uint8_t*>(raw_.data()) + r * row;
      for (std::size_t j = row - 1; j >= spec_.samples; --j)
        at[j] = static_cast<std::uint8_t>(at[j] - at[j - spec_.samples]);
    }
  }
  void add_tile() {
    uLongf length = compressBound(static_cast<uLong>(raw_.size()));
    packed_.resize(length);
    if (compress2(packed_.data(), &length, reinterpret_cast<const Bytef*>(raw_.data()), static_cast<uLong>(raw_.size()),
                  1) != Z_OK)
      throw Failure(ErrorCode::internal, "zlib failed to compress");
    file_.append(std::as_bytes(std::span(packed_).first(length)));
    lengths_.push_back(static_cast<std::uint32_t>(length));
  }

  Directory directory() const {
    const std::uint64_t down = (spec_.height + tile_.height - 1) / tile_.height;
    // Tiles were written row by row; the directory lists them plane by plane.
    std::vector<std::uint64_t> offsets(lengths_.size()), lengths(lengths_.size());
    std::uint64_t offset = kHeader;
    for (std::size_t k = 0; k < lengths_.size(); ++k) {
      const std::uint64_t row = k / (across_ * spec_.planes), rest = k % (across_ * spec_.planes),
                          at = (rest / across_ * down + row) * across_ + rest % across_;
      offsets[at] = offset;
      lengths[at] = lengths_[k];
      offset += lengths_[k];
    }
    const std::uint64_t samples = spec_.planes * spec_.samples;
    const bool is_float = spec_.type.code == TypeCode::floating;
    Directory out;
    out.add(kWidth, kLong, std::vector<std::uint32_t>{static_cast<std::uint32_t>(spec_.width)});
    out.add(kHeight, kLong, std::vector<std::uint32_t>{static_cast<std::uint32_t>(spec_.height)});
    out.add(kBitsPerSample, kShort,
            std::vector<std::uint16_t>(samples, static_cast<std::uint16_t>(spec_.type.bytes() * 8)));
    out.add(kCompression, 8);  // zlib
    out.add(kPhotometric, static_cast<std::uint16_t>(!spec_.palette.empty() ? 3 : spec_.samples == 3 ? 2 : 1));
    out.add(kSamplesPerPixel, static_cast<std::uint16_t>(samples));
    out.add(kPlanarConfiguration, static_cast<std::uint16_t>(spec_.planes > 1 ? 2 : 1));
    out.add(kSoftware, kText, std::vector<char>{'m', 'i', 'l', 'l', 'r', 'a', 'c', 'e', '\0'});
    if (spec_.samples > 1) out.add(kPredictor, 2);
    if (!spec_.palette.empty()) {
      std::vector<std::uint16_t> map(3 * 256);
      for (std::size_t k = 0; k < spec_.palette.size(); ++k)
        for (std::size_t c = 0; c < 3; ++c) map[c * 256 + k] = static_cast<std::uint16_t>(spec_.palette[k][c] * 257);
      out.add(kColorMap, kShort, map);
    }
    out.add(kTileWidth, kLong, std::vector<std::uint32_t>{static_cast<std::uint32_t>(tile_.width)});
    out.add(kTileLength, kLong, std::vector<std::uint32_t>{static_cast<std::uint32_t>(tile_.height)});
    out.add(kTileOffsets, kLong8, offsets);
    out.add(kTileByteCounts, kLong8, lengths);
    // Planes after the first are "extra samples", without a meaning in TIFF.
    if (spec_.planes > 1) out.add(kExtraSamples, kShort, std::vector<std::uint16_t>(spec_.planes - 1, 0));
    out.add(kSampleFormat, kShort, std::vector<std::uint16_t>(samples, is_float ? 3 : 1));
    return out;
  }

  const RasterSpec spec_;
  const TileSize tile_;
  TileRowBuffer rows_;
  PendingDataFile pending_file_;
  ResumableFile file_;
  std::uint64_t across_ = 0;
  std::vector<std::uint32_t> lengths_;
  std::vector<std::byte> raw_;
  std::vector<std::uint8_t> packed_;
};

}  // namespace

// Tile sizes that readers prefer. For floating point a tile has a quarter of the area, because its rows take four times
// as many bytes.
TileSize tiff_tile(const RasterSpec& spec) { return spec.type.bytes() == 1 ? TileSize{256, 256} : TileSize{128, 128}; }

std::unique_ptr<RasterWriter> tiff(const RasterSpec& spec, const std::string& path, std::uint64_t rows,
                                   const std::string& saved) {
  return std::make_unique<TiffRaster>(spec, path, rows, saved);
}

}  // namespace millrace::raster
