#include "src/io/store/zarr_writer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <limits>
#include <span>

#include "src/io/file/atomic_file.h"
#include "src/io/store/checksums.h"
#include "src/io/store/import_shard.h"
#include "src/io/store/zarr_json.h"

namespace millrace {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little);

// Returns the file of chunk `first` of an array with this number of dimensions.
std::string chunk_path(const std::string& array, std::uint64_t first, std::size_t dimensions) {
  std::string out = fmt::format("{}/c/{}", array, first);
  for (std::size_t i = 1; i < dimensions; ++i) out += "/0";
  return out;
}

// CRC-32C (Castagnoli), as the codec crc32c requires.
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

bool is_float(ElementType type) { return type.code == TypeCode::floating || type.code == TypeCode::bfloat; }

// Returns the fill value of numbers that were never written. Compressed arrays are complete: 0. In other arrays it
// means a missing value: NaN for floating-point types.
Json fill_of(const ArraySpec& array) {
  if (array.rows == ArraySpec::Rows::texts) return "";
  if (array.type.code == TypeCode::boolean) return false;
  if (!is_float(array.type)) return 0;
  return array.rows == ArraySpec::Rows::compressed ? Json(0.0) : Json("NaN");
}

Json codecs_of(const ArraySpec& array) {
  if (array.rows == ArraySpec::Rows::texts) return Json::array({{{"name", "vlen-utf8"}}});
  const Json bytes = zarr::bytes_codec(array.type.bytes());
  if (array.rows != ArraySpec::Rows::compressed) return Json::array({bytes});
  return Json::array(
      {{{"name", "sharding_indexed"},
        {"configuration",
         {{"chunk_shape", prepend_count(1, array.shape)},
          {"codecs", Json::array({bytes, zarr::gzip_codec(4)})},
          {"index_codecs", Json::array({zarr::bytes_codec(sizeof(std::uint64_t)), {{"name", "crc32c"}}})},
          {"index_location", "end"}}}}});
}

// Returns one missing element in its stored form: NaN, 0, or an empty text.
std::vector<std::uint8_t> none_of(const ArraySpec& array) {
  if (array.rows == ArraySpec::Rows::texts) return {0, 0, 0, 0};
  std::vector<std::uint8_t> out(array.type.bytes(), 0);
  const auto put = [&out](auto value) { std::memcpy(out.data(), &value, sizeof value); };
  if (array.type == kFloat64) put(std::uint64_t{0x7FF8000000000000});
  if (array.type == kFloat32) put(std::uint32_t{0x7FC00000});
  if (array.type == kFloat16) put(std::uint16_t{0x7E00});
  if (array.type == kBfloat16) put(std::uint16_t{0x7FC0});
  return out;
}

std::string shard_path(const std::string& folder, const ArraySpec& array, std::uint64_t shard) {
  return chunk_path(join_path(folder, array.name), shard, array.shape.size() + 1);
}

}  // namespace

void write_zarr_metadata(const std::string& folder, const DatasetSpec& spec, std::uint64_t each,
                         std::span<const FileDigest> checksums) {
  std::string group;
  std::vector<FileDigest> files(checksums.begin(), checksums.end());
  const auto write = [&](const std::string& name, const Json& json) {
    files.push_back(zarr::write_json(join_path(folder, name), json, folder_of(folder)));
    files.back().name = join_path(name, files.back().name);
  };
  for (const ArraySpec& array : spec.arrays) {
    Json json = zarr::array_json(prepend_count(spec.rows, array.shape), prepend_count(each, array.shape),
                                 array.rows == ArraySpec::Rows::texts ? "string" : name_of(array.type), fill_of(array),
                                 codecs_of(array));
    for (const auto& [name, numbers] : array.attributes) json["attributes"][name] = numbers;
    write(array.name, json);
    if (!array.table().empty() && array.table() != group) {
      group = array.table();
      write(group, zarr::group_json());
    }
  }
  Json root = zarr::group_json();
  for (const auto& [name, value] : spec.attributes) root["attributes"][name] = value;
  root["attributes"][kChecksums] = Json::parse(json_with_self_checksum(files));
  zarr::write_json(folder, root, folder_of(folder));
}

std::string zarr_shard_path(const std::string& folder, const DatasetSpec& spec, std::uint64_t shard) {
  return shard_path(folder, spec.arrays.front(), shard);
}

ShardBytes zarr_shard_bytes(const std::string& folder, const DatasetSpec& spec, std::uint64_t shard) {
  ShardBytes out;
  if (::access(zarr_shard_path(folder, spec, shard).c_str(), F_OK) != 0) return out;
  for (const ArraySpec& array : spec.arrays) {
    out.push_back(
        {.path = shard_path(folder, array, shard), .name = chunk_path(array.name, shard, array.shape.size() + 1)});
  }
  return out;
}

bool import_zarr_shard(const std::string& from, const std::string& to, const DatasetSpec& spec, std::uint64_t shard) {
  // The first array is imported last, as in commit().
  for (std::size_t i = spec.arrays.size(); i-- > 0;) {
    const ArraySpec& array = spec.arrays[i];
    if (!import_file(from, chunk_path(array.name, shard, array.shape.size() + 1), to, {folder_of(to)})) return false;
  }
  return true;
}

// Chunk of one array.
class ZarrShardWriter::Chunk {
 public:
  Chunk(const std::string& folder, const ArraySpec& array, std::uint64_t each, std::uint64_t shard)
      : array_(array),
        each_(each),
        name_(chunk_path(array.name, shard, array.shape.size() + 1)),
        file_(open(shard_path(folder, array, shard), folder_of(folder))) {
    if (array.rows == ArraySpec::Rows::texts) put(static_cast<std::uint32_t>(each));
  }

  void append(const ArrayRows& rows) {
    if (array_.rows == ArraySpec::Rows::texts) {
      // Format of vlen-utf8: the length of the text, then the text.
      rows.each([&](std::size_t i, std::span<const std::uint8_t> text) {
        put(rows.lengths[i]);
        file_.write(std::as_bytes(text));
      });
      return;
    }
    file_.write(std::as_bytes(std::span(rows.bytes)));
    for (const std::uint32_t bytes : rows.lengths) {
      index_.push_back(offset_);
      index_.push_back(bytes);
      offset_ += bytes;
    }
  }
  // Fills the chunk up: chunks at the end of an array are as large as the others.
  void finish(std::uint64_t missing) {
    if (array_.rows == ArraySpec::Rows::compressed) {
      index_.resize(2 * each_, std::numeric_limits<std::uint64_t>::max());
      const auto index = std::as_bytes(std::span(index_));
      file_.write(index);
      return put(crc32c(index));
    }
    const std::vector<std::uint8_t> none = none_of(array_);
    std::uint64_t elements = missing;
    if (array_.rows == ArraySpec::Rows::numbers) elements *= array_.row_bytes() / array_.type.bytes();
    for (std::uint64_t i = 0; i < elements; ++i) file_.write(std::as_bytes(std::span(none)));
  }
  void commit() { file_.commit(); }
  FileDigest digest() const {
    FileDigest out = file_.digest();
    out.name = name_;
    return out;
  }

 private:
  static AtomicFile open(const std::string& path, const std::string& work_folder) {
    std::error_code error;
    fs::create_directories(folder_of(path), error);
    if (error) throw Failure(system_error("it cannot be created", folder_of(path), error.value()));
    return AtomicFile(path, AtomicFile::ShardOptions{work_folder});
  }
  template <typename T>
  void put(const T& value) {
    file_.write(std::as_bytes(std::span(&value, 1)));
  }

  const ArraySpec& array_;
  const std::uint64_t each_;
  const std::string name_;
  AtomicFile file_;
  std::vector<std::uint64_t> index_;  // offset and length of each stream
  std::uint64_t offset_ = 0;
};

ZarrShardWriter::ZarrShardWriter(const std::string& folder, const DatasetSpec& spec, std::uint64_t each,
                                 std::uint64_t shard)
    : each_(each) {
  for (const ArraySpec& array : spec.arrays) chunks_.push_back(std::make_unique<Chunk>(folder, array, each, shard));
}
ZarrShardWriter::~ZarrShardWriter() = default;

void ZarrShardWriter::append(const RowBlock& block) {
  for (std::size_t i = 0; i < chunks_.size(); ++i) chunks_[i]->append(block.arrays[i]);
  rows_ += block.rows;
}

void ZarrShardWriter::finish() {
  for (const auto& chunk : chunks_) chunk->finish(each_ - rows_);
}

std::vector<FileDigest> ZarrShardWriter::digests() const {
  std::vector<FileDigest> out;
  for (const auto& chunk : chunks_) out.push_back(chunk->digest());
  return out;
}

void ZarrShardWriter::commit() {
  // The first array is committed last: if it is there, all are.
  for (std::size_t i = chunks_.size(); i-- > 0;) chunks_[i]->commit();
}

}  // namespace millrace
