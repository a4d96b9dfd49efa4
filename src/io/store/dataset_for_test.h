// A dataset with every kind of array, and its rows. For tests.
#pragma once

#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "src/io/store/dataset.h"

namespace millrace::for_test {

using Rows = ArraySpec::Rows;

class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / (name + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline std::string text_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns every file under a folder, with its contents.
inline std::map<std::string, std::string> files_in(const std::string& folder) {
  std::map<std::string, std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) out[std::filesystem::relative(entry.path(), folder)] = text_in(entry.path().string());
  }
  return out;
}

// Compresses a row of 6 pixels to zlib or gzip, as `window_bits` says.
inline std::vector<std::uint8_t> compressed(const std::vector<std::uint8_t>& bytes, int window_bits) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
  std::vector<std::uint8_t> out(bytes.size() + 64);
  stream.next_in = const_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}
constexpr int kZlib = 15, kGzip = 31;

// Returns a dataset for HDF5 and Zarr.
inline DatasetSpec arrays_of(std::uint64_t rows) {
  DatasetSpec out;
  out.rows = rows;
  out.attributes = {{"made", "by hand"}, {"empty", ""}};
  out.arrays = {{.name = "images", .rows = Rows::compressed, .type = kUint8, .shape = {2, 3}},
                {.name = "half", .type = kFloat16, .shape = {2}},
                {.name = "brain", .type = kBfloat16},
                {.name = "wide", .type = kFloat64, .attributes = {{"steps", {1, -5}}}},
                {.name = "index/number", .type = kUint32},
                {.name = "index/name", .rows = Rows::texts, .text_bytes = 7},
                {.name = "index/time", .type = kInt64}};
  return out;
}

inline std::vector<std::uint8_t> pixels_of(std::uint64_t row) {
  std::vector<std::uint8_t> out(6);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint8_t>(7 * row + i);
  return out;
}
inline std::string name_of_row(std::uint64_t row) { return row % 3 == 0 ? "" : "n" + std::to_string(row); }

// Returns rows [begin, end) of the dataset.
inline RowBlock rows_of(const DatasetSpec& spec, std::uint64_t begin, std::uint64_t end, int window_bits) {
  RowBlock out;
  out.clear(spec.arrays.size());
  for (std::uint64_t row = begin; row < end; ++row) {
    const auto chunk = compressed(pixels_of(row), window_bits);
    out.arrays[0].append(std::span<const std::uint8_t>(chunk));
    out.arrays[0].lengths.push_back(static_cast<std::uint32_t>(chunk.size()));
    out.arrays[1].append(std::uint16_t{0x3C00});                                   // 1
    out.arrays[1].append(static_cast<std::uint16_t>(0xC000 + 0x400 * (row % 4)));  // -2, -4, -8, -16
    out.arrays[2].append(static_cast<std::uint16_t>(0x3F80 + 0x80 * (row % 3)));   // 1, 2, 4
    out.arrays[3].append(static_cast<double>(row) / 3);
    out.arrays[4].append(static_cast<std::uint32_t>(row));
    out.arrays[5].append_text(name_of_row(row));
    out.arrays[6].append(static_cast<std::int64_t>(row) - 5);
    ++out.rows;
  }
  return out;
}

// Appends rows [begin, end) in blocks of `together` rows.
inline void fill(ShardWriter& writer, const DatasetSpec& spec, std::uint64_t begin, std::uint64_t end,
                 std::uint64_t together, int window_bits) {
  for (; begin < end; begin += together) {
    writer.append(rows_of(spec, begin, std::min(end, begin + together), window_bits));
  }
}

}  // namespace millrace::for_test
