// Input: a file of tensors that another program wrote: .npy, .npy.gz, .npz, .pt, .pt.gz, .safetensors.
// Output: the list of its tensors; the numbers of one, row after row, in the caller's memory.
// Never: executes a pickle, allocates more than the file can hold, maps a file, or trusts a number without a check.
//
// Sources of the formats: NumPy's NEP 1 and numpy.savez; torch.serialization of PyTorch 0.4 and later; the safetensors
// format of Hugging Face; RFC 1952.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "include/millrace/array.h"
#include "src/base/error.h"

namespace millrace::tensor_file {

enum class Format : std::uint8_t { npy, npy_gz, npz, pt, pt_gz, safetensors };

// Returns the format by the name's ending, in upper or lower case; nullopt for other endings.
std::optional<Format> format_of(std::string_view name);

// Consecutive bytes of a file, or of the contents of a gzipped file. They are a member of a zip archive with the header
// before it, or plain bytes.
struct Block {
  std::uint64_t offset = 0, end = 0;      // where it begins, and a limit that it does not exceed
  std::uint64_t stored = 0;               // bytes that it has there, without a member's header
  std::uint64_t bytes = 0;                // number of these bytes after inflation
  bool member = false, deflated = false;  // in a zip archive; compressed with DEFLATE
  std::optional<std::uint32_t> crc = {};  // CRC-32 of the inflated bytes, if it is known
};

struct Tensor {
  // Key of an .npz without ".npy", or of a dictionary. Nested keys are joined by '.', items of lists and tuples have
  // their numbers. Empty for a tensor that is the whole file. Up to 4 KiB, of any bytes.
  std::string name;
  ElementType type;
  std::vector<std::uint64_t> shape;    // at most 32 dimensions
  std::vector<std::uint64_t> strides;  // in elements, one per dimension; none: row after row without gaps

  // Position of the numbers. `inflated`: size of the contents of a gzipped file; 0: the file is not gzipped.
  std::uint64_t inflated = 0;
  Block block;
  std::uint64_t first = 0;  // offset of the first element in the block, in bytes

  std::uint64_t elements() const;
  // Returns the bytes of its elements, row after row, which Reader::read() fills. The number fits 64 bits.
  std::uint64_t bytes() const;
};

// Lists the tensors of a file, in the file's order. It reads as little as it can. A gzipped .npy is inflated up to the
// end of its header. A gzipped .pt is inflated completely: at once up to 32 MiB, and in blocks above, which takes three
// times as long. Other files are read only where they describe their tensors. Memory: those 64 MiB, and the limits on
// headers and pickles. Numbers and texts beside tensors in a .pt, and arrays of texts or objects in an .npz, are
// skipped; there may be no tensor. Errors: not_found, io, bad_data; conflict if the file is truncated meanwhile;
// cancelled once `cancelled` returns true. The error unsupported names what is refused and what to do; too_large names
// the limit.
Outcome<std::vector<Tensor>> list(const std::string& path, Format format, const std::function<bool()>& cancelled = {});

// Reads tensors one after the other. Its working memory is kept, so that one reader serves thousands of files. For one
// thread.
class TensorReader {
 public:
  TensorReader();
  ~TensorReader();
  TensorReader(TensorReader&&) noexcept;
  TensorReader& operator=(TensorReader&&) noexcept;

  // Returns the memory that read() needs for a tensor of a file of this size, besides `out`.
  static std::uint64_t bytes(const Tensor& tensor, std::uint64_t file_size);

  // Fills `out`, which has exactly tensor.bytes(), with its numbers, row after row without gaps, little-endian. The
  // caller has opened the file and has checked that it is the one that list() saw. Nothing in the file is trusted for
  // that reason. The path is for messages. A CRC-32 is checked if all bytes that it covers are read. These are any
  // gzipped file, any deflated member, and any stored member that the tensor fills. A CRC-32 of 0 from PyTorch is not
  // checked: it was not computed. Errors: conflict if the file is shorter than it was, bad_data, io. OutOfMemory is
  // thrown.
  Outcome<void> read(int fd, std::uint64_t file_size, const std::string& path, const Tensor& tensor,
                     std::span<std::byte> out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace::tensor_file
