// What the program and its reader of HDF5 say to each other over a socket: a request, an answer, and so on.
//
// A file comes as a descriptor, with the first request that is about it; the helper has no name of it. Every request
// names its dataset. Both sides are built from the same source, so the structures are sent as they lie in memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::hdf5::helper {

inline constexpr std::uint32_t kMostText = 1 << 20;
inline constexpr std::uint64_t kMostValues = 1 << 20;
// Datasets of a file that are listed.
inline constexpr std::size_t kMostListed = 256;
// Bytes of all attributes of a file together: the list of inputs is the longest.
inline constexpr std::uint32_t kMaxAttributeText = 64 << 20;
// Bytes of an encoded type.
inline constexpr std::uint32_t kMaxType = 1 << 16;
// Bytes of rows in one answer; a row is smaller.
inline constexpr std::uint64_t kMaxRowBytes = 4 << 20;

enum class Kind : std::uint32_t { list, describe, read, attributes, stored_rows };

// Followed by `dataset_bytes` of a dataset's name and `type_bytes` of an encoded type.
struct Request {
  Kind kind;
  std::uint32_t dataset_bytes;
  std::uint32_t columns;          // read: values in a row
  std::uint32_t type_bytes;       // stored_rows
  std::uint64_t first, count;     // read, stored_rows: rows
  std::uint64_t rows, row_bytes;  // stored_rows: all rows of the dataset, and bytes in one
  std::uint64_t memory_limit;     // what the helper may allocate for it; 0: no limit
  std::uint64_t memory_most;      // what it may ever allocate; that of its first request stays; 0: no limit
};

// Followed by `text_bytes` of text, `values` doubles and `bytes` bytes of rows.
struct Answer {
  std::uint32_t error_code;  // ErrorCode of a failure, of which the text is "what\0remedy"; else kDone
  std::uint32_t text_bytes;  // list: names, each with a zero behind it; attributes: names and values; describe: words
  std::uint32_t dimensions;  // describe
  std::uint64_t shape[3];
  std::uint64_t chunk_bytes;  // what must be in memory for one row to be read
  std::uint64_t values;       // read
  std::uint64_t bytes;        // stored_rows
};
inline constexpr std::uint32_t kDone = 0xFFFFFFFF;

}  // namespace millrace::hdf5::helper
