// Input: the name of a .npy file of codes: uint64 [n], uint8 [n, 8] or uint8 [n, 32].
// Output: the number of codes, their bits, and ranges of them.
// Never: holds more of the file than was requested; uses a file that was written to since it was opened. A file that
//   replaces it under the same name does not matter.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "src/io/file/directory_entry.h"
#include "src/io/tensor/npy.h"
#include "src/kernels/hamming/hamming.h"
#include "src/memory/reserved_buffer.h"
#include "src/pipeline/run_context.h"

namespace millrace::join {

class CodeFile {
 public:
  // Throws a Failure if the file holds no codes.
  explicit CodeFile(std::string path);

  const std::string& path() const { return path_; }
  int bits() const { return bits_; }
  std::uint64_t rows() const { return rows_; }
  // Reads the whole file, codes row after row.
  npy::Array read(RunContext& context) const;
  // Fills `out` with consecutive codes, starting at row `begin`.
  template <typename Code>
  void read(std::uint64_t begin, std::span<Code> out, RunContext& context) const;
  // Returns at most `most` codes, spread evenly over the file.
  template <typename Code>
  ReservedBuffer<Code> sample(std::uint64_t most, RunContext& context) const;
  // Returns a hash of the file, which identifies its contents.
  std::string identity(RunContext& context) const;

 private:
  // Throws Failure(conflict) if the file was written to since it was opened.
  void throw_if_changed() const;
  template <typename Code, typename Position>
  void read_ranges(std::span<Code> out, std::size_t piece, std::size_t grain, const Position& position_of,
                   RunContext& context) const;

  const std::string path_;
  Descriptor file_;
  FileState state_;
  npy::Header header_;
  int bits_ = 0;
  std::uint64_t rows_ = 0;
};

template <typename Code>
std::span<const Code> codes_of(const npy::Array& file) {
  return {reinterpret_cast<const Code*>(file.data().data()), file.data().size() / sizeof(Code)};
}

// Calls `body` with a value of the codes' type, which has 64 or 256 bits.
template <typename Body>
auto dispatch_code_type(int bits, const Body& body) {
  return bits == 64 ? body(std::uint64_t{}) : body(hamming::Code256{});
}

// Returns the bits of a code, or 0 if the array holds no codes. The array has these elements and axes; `last` is the
// length of the last axis.
int code_bits(ElementType type, std::size_t axes, std::uint64_t last);

}  // namespace millrace::join
