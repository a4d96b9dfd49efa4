// Input: a .npy file (format 1, 2 or 3), or rows of plain values.
// Output: its shape, type and bytes, in memory; or a .npy file that appears whole or not at all.
// Never: believes a header: every number in it is checked against the file before it is used. Never maps a file: one
// that is cut short by someone else is an error, not a crash.
//
// Read and written: little-endian or one-byte numbers, C order, plain or structured types. Refused
// with a reason: Fortran order of more than one dimension, big-endian, Python objects, strings,
// nested or sub-array fields.
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
#include "src/memory/paid_buffer.h"

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

  bool plain() const { return fields.size() == 1 && fields[0].name.empty(); }
  std::uint64_t item_bytes() const;  // structured types are packed
  std::uint64_t items() const;       // the product of the shape
  // "uint8 [100, 32]", for messages.
  std::string words() const;
};

// The header at the front of `bytes`, and the promise that items() * item_bytes() bytes follow it
// there.
Outcome<Header> parse(std::span<const std::byte> bytes, const std::string& subject);
// The header of a file, and the same promise about the file.
Outcome<Header> read_header(const std::string& path);

// A file that was read whole. Its bytes are aligned for every type.
class Array {
 public:
  // Failure (bad_data, not_found, conflict where it is cut short meanwhile, cancelled); OutOfMemory.
  static Array read(const std::string& path, Budget& budget, const std::function<bool()>& cancelled);

  const Header& header() const { return header_; }
  std::span<const std::byte> data() const { return bytes_.span(); }
  // Of a plain type; read only.
  ArrayView view() const;

 private:
  Array() = default;
  Header header_;
  PaidBuffer<std::byte> bytes_;
};

// The bytes of a header of format 1, padded so that data begins at a multiple of 64. Failure(usage) for bfloat16, which
// the format has no name for.
std::string header_text(const std::vector<Field>& fields, std::span<const std::uint64_t> shape);

// An output whose size is known before. Throws Failure.
class Writer {
 public:
  Writer(const Output& output, const std::vector<Field>& fields, std::vector<std::uint64_t> shape);

  void append(std::span<const std::byte> bytes);
  // Everything on disk under the temporary name; the shape must have been filled.
  void sync();
  // sync(), then the file has its name. Without it the file is not there.
  void finish();

 private:
  std::string path_;
  OutputFile file_;
  std::uint64_t expected_ = 0, given_ = 0;
};

}  // namespace millrace::npy
