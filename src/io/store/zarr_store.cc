#include "src/io/store/zarr_store.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "src/io/file/atomic_file.h"

namespace millrace {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Sizes = std::vector<std::uint64_t>;

static_assert(std::endian::native == std::endian::little);

// The file of chunk `first` of an array of so many dimensions.
std::string chunk_path(const std::string& array, std::uint64_t first, std::size_t dimensions) {
  std::string out = fmt::format("{}/c/{}", array, first);
  for (std::size_t i = 1; i < dimensions; ++i) out += "/0";
  return out;
}

AtomicFile chunk_file(const std::string& array, std::uint64_t first, std::size_t dimensions) {
  const std::string path = chunk_path(array, first, dimensions);
  std::error_code error;
  fs::create_directories(folder_of(path), error);
  if (error) throw Failure(system_error("it cannot be created", folder_of(path), error.value()));
  return AtomicFile(path, AtomicFile::Temporary::part);
}

template <typename T>
void put(AtomicFile& file, const T& value) {
  file.write(std::as_bytes(std::span(&value, 1)));
}

// CRC-32C (Castagnoli), as the codec crc32c wants it.
std::uint32_t crc32c(std::span<const std::byte> bytes) {
  static const auto kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t v = 0; v < 256; ++v) {
      std::uint32_t crc = v;
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0x82F63B78 & (0 - (crc & 1)));
      table[v] = crc;
    }
    return table;
  }();
  std::uint32_t crc = ~std::uint32_t{0};
  for (const std::byte b : bytes) crc = kTable[(crc ^ std::to_integer<std::uint8_t>(b)) & 255] ^ crc >> 8;
  return ~crc;
}

Json regular(const Sizes& shape) { return {{"name", "regular"}, {"configuration", {{"chunk_shape", shape}}}}; }
Json little() { return {{"name", "bytes"}, {"configuration", {{"endian", "little"}}}}; }

Json array_json(const Sizes& shape, const Sizes& chunk, const std::string& type, Json fill, Json codecs) {
  return {{"zarr_format", 3},
          {"node_type", "array"},
          {"shape", shape},
          {"data_type", type},
          {"chunk_grid", regular(chunk)},
          {"chunk_key_encoding", {{"name", "default"}, {"configuration", {{"separator", "/"}}}}},
          {"fill_value", std::move(fill)},
          {"codecs", std::move(codecs)},
          {"attributes", Json::object()}};
}

void write_json(const std::string& folder, const Json& json) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Failure(system_error("it cannot be created", folder, error.value()));
  AtomicFile file(folder + "/zarr.json", AtomicFile::Temporary::part);
  file.write(json.dump(1) + "\n");
  file.commit();
}

}  // namespace

void write_zarr_metadata(const std::string& folder, const ChartLayout& layout, std::uint64_t each) {
  const std::uint64_t n = layout.charts;
  const Json floats = Json::array({little()});
  Json images =
      array_json(with_count(n, layout.image), with_count(each, layout.image), layout.floats ? "float32" : "uint8",
                 layout.floats ? Json(0.0) : Json(0),
                 Json::array({{{"name", "sharding_indexed"},
                               {"configuration",
                                {{"chunk_shape", with_count(1, layout.image)},
                                 {"codecs", Json::array({layout.floats ? little() : Json{{"name", "bytes"}},
                                                         {{"name", "gzip"}, {"configuration", {{"level", 4}}}}})},
                                 {"index_codecs", Json::array({little(), {{"name", "crc32c"}}})},
                                 {"index_location", "end"}}}}}));
  write_json(folder + "/images", images);
  const Sizes sequence = layout.sequence();
  write_json(folder + "/sequences",
             array_json(with_count(n, sequence), with_count(each, sequence), "float32", "NaN", floats));
  if (!layout.horizons.empty()) {
    const Sizes horizons{layout.horizons.size()};
    Json labels = array_json(with_count(n, horizons), with_count(each, horizons), "float32", "NaN", floats);
    labels["attributes"]["horizons"] = layout.horizons;
    write_json(folder + "/labels", labels);
  }
  const std::string index = folder + "/index";
  write_json(index + "/file", array_json({n}, {each}, "uint32", 0, floats));
  write_json(index + "/row", array_json({n}, {each}, "uint64", 0, floats));
  const auto text = [&](const char* name) {
    write_json(index + "/" + name, array_json({n}, {each}, "string", "", Json::array({{{"name", "vlen-utf8"}}})));
  };
  if (layout.symbol_bytes > 0) text("symbol");
  if (layout.date_bytes > 0) {
    text("date");
    text("end_date");
    write_json(index + "/end_time", array_json({n}, {each}, "int64", 0, floats));
  }
  write_json(index, {{"zarr_format", 3}, {"node_type", "group"}, {"attributes", Json::object()}});
  Json attributes = Json::object();
  for (const auto& [name, value] : layout.attributes) attributes[name] = value;
  write_json(folder, {{"zarr_format", 3}, {"node_type", "group"}, {"attributes", std::move(attributes)}});
}

std::string zarr_shard_path(const std::string& folder, const ChartLayout& layout, std::uint64_t shard) {
  return chunk_path(folder + "/images", shard, layout.image.size() + 1);
}

struct ZarrShard::State {
  State(const std::string& folder, const ChartLayout& given, std::uint64_t charts, std::uint64_t shard)
      : layout(given),
        each(charts),
        images(chunk_file(folder + "/images", shard, given.image.size() + 1)),
        sequences(chunk_file(folder + "/sequences", shard, given.sequence().size() + 1)),
        file(chunk_file(folder + "/index/file", shard, 1)),
        row(chunk_file(folder + "/index/row", shard, 1)) {
    if (!layout.horizons.empty()) labels.emplace(folder + "/labels", shard, 2);
    const auto text = [&](std::optional<Optional>& array, const char* name) {
      array.emplace(folder + "/index/" + name, shard, 1);
      put(array->file, static_cast<std::uint32_t>(each));
    };
    if (layout.symbol_bytes > 0) text(symbols, "symbol");
    if (layout.date_bytes == 0) return;
    text(dates, "date");
    text(end_dates, "end_date");
    end_times.emplace(folder + "/index/end_time", shard, 1);
  }
  struct Optional {
    Optional(const std::string& array, std::uint64_t shard, std::size_t dimensions)
        : file(chunk_file(array, shard, dimensions)) {}
    AtomicFile file;
  };

  // As vlen-utf8 has it: its length, then itself.
  static void put_text(std::optional<Optional>& array, const std::string& text) {
    if (!array) return;
    put(array->file, static_cast<std::uint32_t>(text.size()));
    array->file.write(text);
  }

  const ChartLayout layout;
  const std::uint64_t each;
  AtomicFile images, sequences, file, row;
  std::optional<Optional> labels, symbols, dates, end_dates, end_times;
  std::vector<std::uint64_t> index;  // offset and length of each chart's stream
  std::uint64_t offset = 0;
};

ZarrShard::ZarrShard(const std::string& folder, const ChartLayout& layout, std::uint64_t each, std::uint64_t shard)
    : state_(std::make_unique<State>(folder, layout, each, shard)) {}
ZarrShard::~ZarrShard() = default;

void ZarrShard::append(const ChartBlock& block) {
  State& s = *state_;
  s.images.write(std::as_bytes(std::span(block.images)));
  for (const std::uint32_t bytes : block.image_bytes) {
    s.index.push_back(s.offset);
    s.index.push_back(bytes);
    s.offset += bytes;
  }
  s.sequences.write(std::as_bytes(std::span(block.sequences)));
  if (s.labels) s.labels->file.write(std::as_bytes(std::span(block.labels)));
  for (const ChartBlock::Place& place : block.places) {
    put(s.file, place.file);
    put(s.row, place.row);
    State::put_text(s.symbols, place.symbol);
    State::put_text(s.dates, place.date);
    State::put_text(s.end_dates, place.end_date);
    if (s.end_times) put(s.end_times->file, place.end_time);
  }
}

void ZarrShard::finish() {
  State& s = *state_;
  // Chunks at the end of an array are as large as the others.
  const std::uint64_t missing = s.each - s.index.size() / 2;
  s.index.resize(2 * s.each, std::numeric_limits<std::uint64_t>::max());
  const auto index = std::as_bytes(std::span(s.index));
  s.images.write(index);
  put(s.images, crc32c(index));
  const float none = std::numeric_limits<float>::quiet_NaN();
  for (std::uint64_t i = 0; i < missing; ++i) {
    for (std::uint64_t k = 0; k < std::uint64_t{s.layout.window} * s.layout.columns; ++k) put(s.sequences, none);
    if (s.labels) {
      for (std::size_t k = 0; k < s.layout.horizons.size(); ++k) put(s.labels->file, none);
    }
    put(s.file, std::uint32_t{0});
    put(s.row, std::uint64_t{0});
    State::put_text(s.symbols, "");
    State::put_text(s.dates, "");
    State::put_text(s.end_dates, "");
    if (s.end_times) put(s.end_times->file, std::int64_t{0});
  }
}

void ZarrShard::commit() {
  State& s = *state_;
  s.sequences.commit();
  if (s.labels) s.labels->file.commit();
  s.file.commit();
  s.row.commit();
  for (auto* array : {&s.symbols, &s.dates, &s.end_dates, &s.end_times}) {
    if (*array) (*array)->file.commit();
  }
  // Last: whatever has the images has all.
  s.images.commit();
}

}  // namespace millrace
