// Input: none; this file defines types.
// Output: the description of a dataset, rows on their way into one, and the interface of a writer of one shard.
// Never: depends on how a dataset is stored on the disk, or on what its rows mean.
//
// A dataset is named arrays that grow along their first axis together: row i of each belongs to row i of all others.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "include/millrace/array.h"
#include "src/base/choice.h"
#include "src/io/file/file_digest.h"

namespace millrace {

// Returns the shape of `count` items whose own shape is `rest`.
template <typename Size>
std::vector<Size> prepend_count(std::uint64_t count, const std::vector<Size>& rest) {
  std::vector<Size> out{count};
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

// Pairs of name and value, as text.
using Attributes = std::vector<std::pair<std::string, std::string>>;

struct ArraySpec {
  // Content of each row:
  enum class Rows : std::uint8_t {
    numbers,     // its elements, row-major, little-endian
    texts,       // UTF-8
    compressed,  // its elements as one stream, which the store's own readers decompress: zlib in HDF5, gzip in Zarr
    files,       // a file
  };
  std::string name;  // "images"; "index/row" is a column of the table "index"
  Rows rows = Rows::numbers;
  ElementType type{};                  // for texts and files: uint8
  std::vector<std::uint64_t> shape{};  // shape of a row; empty: a row is one element
  std::uint32_t text_bytes = 0;        // for texts: length of the longest
  // Format in folders. For numbers: "npy", or "dat" without a header. For texts: "csv" and "jsonl", whose lines they
  // are. "pairs": each row is a sorted list of pairs. "tar": files are its records. Any other value is the ending of
  // one file per row.
  std::string extension{};
  std::string header{};  // csv: its first line
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> attributes{};

  std::uint64_t row_bytes() const {
    std::uint64_t out = type.bytes();
    for (const std::uint64_t side : shape) out *= side;
    return out;
  }
  // Returns "index" of "index/row"; empty if the array belongs to no table.
  std::string table() const {
    const std::size_t slash = name.find('/');
    return slash == std::string::npos ? std::string() : name.substr(0, slash);
  }
};

constexpr std::array<Choice<ArraySpec::Rows>, 4> choices_of(ArraySpec::Rows) {
  return {{{"numbers", ArraySpec::Rows::numbers},
           {"texts", ArraySpec::Rows::texts},
           {"compressed", ArraySpec::Rows::compressed},
           {"files", ArraySpec::Rows::files}}};
}

struct DatasetSpec {
  std::string unit = "rows";  // word for its rows in messages
  std::uint64_t rows = 0;
  std::vector<ArraySpec> arrays;
  Attributes attributes;
};

// Consecutive rows of one array.
struct ArrayRows {
  std::vector<std::uint8_t> bytes;     // all rows, one after the other
  std::vector<std::uint32_t> lengths;  // bytes of each row; empty if all rows have ArraySpec::row_bytes()

  template <typename T>
  void append(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* begin = reinterpret_cast<const std::uint8_t*>(values.data());
    bytes.insert(bytes.end(), begin, begin + values.size_bytes());
  }
  template <typename T>
  requires std::is_arithmetic_v<T>
  void append(T value) { append(std::span<const T>(&value, 1)); }
  void append_text(std::string_view text) {
    append(std::span<const char>(text));
    lengths.push_back(static_cast<std::uint32_t>(text.size()));
  }
  // Calls visit(row, its bytes) for each row, if rows have different lengths.
  template <typename Visit>
  void each(Visit&& visit) const {
    std::size_t at = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      visit(i, std::span<const std::uint8_t>(bytes).subspan(at, lengths[i]));
      at += lengths[i];
    }
  }
};

// Consecutive rows of all arrays of a dataset.
struct RowBlock {
  std::size_t rows = 0;
  std::vector<ArrayRows> arrays;

  void clear(std::size_t count) {
    rows = 0;
    arrays.resize(count);
    for (ArrayRows& array : arrays) {
      array.bytes.clear();
      array.lengths.clear();
    }
  }
  std::uint64_t bytes() const {
    std::uint64_t out = 0;
    for (const ArrayRows& array : arrays) out += array.bytes.size();
    return out;
  }
};

// Returns true if the rows fit the array: as many bytes as their elements need, or a length for each row.
bool has_expected_size(const ArrayRows& rows, const ArraySpec& spec, std::size_t count);

// Writes one shard, consecutive rows of a dataset. Throws Failure; files that are left behind then do not have the
// shard's name.
class ShardWriter {
 public:
  ShardWriter() = default;
  virtual ~ShardWriter() = default;
  ShardWriter(const ShardWriter&) = delete;
  ShardWriter& operator=(const ShardWriter&) = delete;

  virtual void append(const RowBlock& block) = 0;
  // Called after all rows were appended.
  virtual void finish() = 0;
  // Called after finish(), on any thread: the shard is then on the disk and has its name.
  virtual void commit() = 0;
  // Returns, after finish(), the digests of the shard's files, or of its ranges of files that all shards share. They
  // are computed during writing and are in the order of `ShardBytes`. Empty for a shard that is in the output from its
  // first row on.
  virtual std::vector<FileDigest> digests() const { return {}; }
};

// Division of a dataset's rows into shards.
struct ShardLayout {
  std::uint64_t rows = 0, each = 1;
  std::uint64_t count() const { return (rows + each - 1) / each; }
  std::uint64_t begin(std::uint64_t k) const { return k * each; }
  std::uint64_t end(std::uint64_t k) const { return begin(k) + each < rows ? begin(k) + each : rows; }
};

}  // namespace millrace
