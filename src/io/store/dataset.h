// Input: nothing.
// Output: what a dataset is made of, rows on their way into one, and what takes a part of them.
// Never: knows how a dataset lies on the disk, or what its rows mean.
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

// Of `count` things of this shape.
template <typename Size>
std::vector<Size> with_count(std::uint64_t count, const std::vector<Size>& rest) {
  std::vector<Size> out{count};
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

// Name and value, as text.
using Attributes = std::vector<std::pair<std::string, std::string>>;

struct ArraySpec {
  // What comes of each row:
  enum class Rows : std::uint8_t {
    numbers,     // its elements, row-major, little-endian
    texts,       // UTF-8
    compressed,  // its elements as one stream, which the store's own readers decompress: zlib in HDF5, gzip in Zarr
    files,       // a file
  };
  std::string name;  // "images"; "index/row" is a column of the table "index"
  Rows rows = Rows::numbers;
  ElementType type{};                  // of texts and files: uint8
  std::vector<std::uint64_t> shape{};  // of a row; empty: it is one element
  std::uint32_t text_bytes = 0;        // texts: of the longest
  // In folders: "npy", "dat" (numbers without a header), "csv" and "jsonl" (texts are their lines), "pairs"
  // (of each row a sorted list of them), "tar" (files are its records), or what the names of files end with.
  std::string extension{};
  std::string header{};  // csv: its first line
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> attributes{};

  std::uint64_t row_bytes() const {
    std::uint64_t out = type.bytes();
    for (const std::uint64_t side : shape) out *= side;
    return out;
  }
  // "index" of "index/row"; empty where it is an array of its own.
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
  std::string unit = "rows";  // what people call its rows
  std::uint64_t rows = 0;
  std::vector<ArraySpec> arrays;
  Attributes attributes;
};

// Consecutive rows of one array.
struct ArrayRows {
  std::vector<std::uint8_t> bytes;     // row after row
  std::vector<std::uint32_t> lengths;  // of each row; none where all rows have ArraySpec::row_bytes()

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
  // visit(row, its bytes) for rows of different length.
  template <typename Visit>
  void each(Visit&& visit) const {
    std::size_t at = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      visit(i, std::span<const std::uint8_t>(bytes).subspan(at, lengths[i]));
      at += lengths[i];
    }
  }
};

// Consecutive rows of a dataset, of each of its arrays.
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

// Whether the rows are as the array's are: as many bytes as they have elements, or a length for each.
bool fits(const ArrayRows& rows, const ArraySpec& spec, std::size_t count);

// Consecutive rows of a dataset, written at once. Throws Failure; what is left behind then is not under the part's
// name.
class PartWriter {
 public:
  PartWriter() = default;
  virtual ~PartWriter() = default;
  PartWriter(const PartWriter&) = delete;
  PartWriter& operator=(const PartWriter&) = delete;

  virtual void append(const RowBlock& block) = 0;
  // All rows were appended.
  virtual void finish() = 0;
  // After finish(), and on any thread: the part is on the disk and has its name.
  virtual void commit() = 0;
  // After finish(): its files, or its ranges of files that all parts share, hashed while they were written, in the
  // order of PartBytes. None of a part that lies in the output from its first row on.
  virtual std::vector<FileDigest> digests() const { return {}; }
};

// Which rows of a dataset are which part of it.
struct Parts {
  std::uint64_t rows = 0, each = 1;
  std::uint64_t count() const { return (rows + each - 1) / each; }
  std::uint64_t begin(std::uint64_t k) const { return k * each; }
  std::uint64_t end(std::uint64_t k) const { return begin(k) + each < rows ? begin(k) + each : rows; }
};

}  // namespace millrace
