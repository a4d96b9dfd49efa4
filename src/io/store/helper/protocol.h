// Protocol between the program and its HDF5 helper over a socket: a request, an answer, and so on.
//
// A file is passed as a descriptor, with the first request about it; the helper does not know its name. Every request
// names its dataset. Both sides are built from the same source, so the structures are sent as raw memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::hdf5::helper {

inline constexpr std::uint32_t kMaxText = 1 << 20;
inline constexpr std::uint64_t kMaxValues = 1 << 20;
// Maximum number of datasets that are listed.
inline constexpr std::size_t kMaxListed = 256;
// Maximum bytes of all attributes of a file together: the list of inputs is the longest.
inline constexpr std::uint32_t kMaxAttributeText = 64 << 20;
// Maximum bytes of an encoded type.
inline constexpr std::uint32_t kMaxType = 1 << 16;
// Maximum bytes of rows in one answer; a row is smaller.
inline constexpr std::uint64_t kMaxRowBytes = 4 << 20;

enum class RequestKind : std::uint32_t { list, describe, read, attributes, stored_rows };

// Request, followed by `dataset_bytes` bytes of a dataset's name and `type_bytes` bytes of an encoded type.
struct Request {
  RequestKind kind;
  std::uint32_t dataset_bytes;
  std::uint32_t columns;          // read: values in a row
  std::uint32_t type_bytes;       // stored_rows
  std::uint64_t first, count;     // read, stored_rows: rows
  std::uint64_t rows, row_bytes;  // stored_rows: all rows of the dataset, and bytes in one
  std::uint64_t memory_limit;     // bytes that the helper may allocate for this request; 0: no limit
  std::uint64_t max_memory;       // bytes that it may ever allocate; its first request sets this limit; 0: no limit
};

// Answer, followed by `text_bytes` bytes of text, `values` doubles and `bytes` bytes of rows.
struct Answer {
  std::uint32_t error_code;  // ErrorCode of a failure, whose text is "what\0remedy"; otherwise kDone
  std::uint32_t text_bytes;  // list: names, each followed by a zero; attributes: names and values; describe: words
  std::uint32_t dimensions;  // describe
  std::uint64_t shape[3];
  std::uint64_t chunk_bytes;  // bytes that must be in memory to read one row
  std::uint64_t values;       // read
  std::uint64_t bytes;        // stored_rows
};
inline constexpr std::uint32_t kDone = 0xFFFFFFFF;

}  // namespace millrace::hdf5::helper
