// Input: a .npy file (format 1, 2 or 3), or rows of plain values.
// Output: the shape, type and bytes of the file, in memory; or a .npy file that appears whole or not at all.
// Never: trusts a number in a header before a check against the file; maps a file, as a truncated one would crash.
//
// Supported: little-endian or one-byte numbers, C order, plain or structured types. Refused with a reason: Fortran
// order of more than one dimension, big-endian, Python objects, strings, nested or sub-array fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "include/millrace/array.h"
#include "src/base/error.h"
#include "src/io/output/output.h"
#include "src/memory/reserved_buffer.h"

namespace millrace::npy {

// A field of a structured type; a plain type is one field without a name.
struct Field {
  std::string name;
  ElementType type;
  friend bool operator==(const Field&, const Field&) = default;
};

struct Header {
  std::vector<Field> fields;
  std::vector<std::uint64_t> shape;
  std::size_t data_offset = 0;

  bool is_plain() const { return fields.size() == 1 && fields[0].name.empty(); }
  std::uint64_t item_bytes() const;  // structured types are packed
  std::uint64_t items() const;       // the product of the shape
  // Returns text for messages, such as "uint8 [100, 32]".
  std::string words() const;
};

// Parses the header at the front of `bytes`, and guarantees that items() * item_bytes() bytes follow it there.
Outcome<Header> parse(std::span<const std::byte> bytes, const std::string& subject);
// Reads the header of a file, with the same guarantee about the file.
Outcome<Header> read_header(const std::string& path);

// A file that was read whole. Its bytes are aligned for every type.
class Array {
 public:
  // Throws Failure (bad_data, not_found, conflict if it is truncated meanwhile, cancelled) or OutOfMemory.
  static Array read(const std::string& path, Budget& budget, const std::function<bool()>& cancelled);

  const Header& header() const { return header_; }
  std::span<const std::byte> data() const { return bytes_.span(); }
  // Returns a view of an array of a plain type; for reading only.
  ArrayView view() const;

 private:
  Array() = default;
  Header header_;
  ReservedBuffer<std::byte> bytes_;
};

// Returns a header of format 1, padded so that data begins at a multiple of 64. Failure(usage) for bfloat16, which has
// no name in the format.
std::string header_text(const std::vector<Field>& fields, std::span<const std::uint64_t> shape);

// Writes an output whose size is known before. Throws Failure.
class NpyWriter {
 public:
  NpyWriter(const OutputTarget& output, const std::vector<Field>& fields, std::vector<std::uint64_t> shape);

  void append(std::span<const std::byte> bytes);
  // Writes everything to the disk under the temporary name; the rows must have filled the shape.
  void sync();
  // Calls sync(), then gives the file its name. Without this call no file appears.
  void finish();

 private:
  std::string path_;
  OutputFile file_;
  std::uint64_t expected_ = 0, given_ = 0;
};

}  // namespace millrace::npy
