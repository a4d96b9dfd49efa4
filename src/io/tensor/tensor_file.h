// Input: a file of tensors that another program wrote: .npy, .npy.gz, .npz, .pt, .pt.gz, .safetensors.
// Output: what tensors it holds; the numbers of one, row after row, in memory of the caller's.
// Never: runs what a pickle asks for, gives memory for a promise that the file cannot keep, maps a file, or takes a
// number in a file for true that it could check.
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

// By the name's ending, in any case of its letters; nothing where it is none of these.
std::optional<Format> format_of(std::string_view name);

// Consecutive bytes of a file, or of what a gzipped file holds: a member of a zip archive with the header before it, or
// plain bytes.
struct Block {
  std::uint64_t offset = 0, end = 0;      // where it begins, and what it does not reach beyond
  std::uint64_t stored = 0;               // bytes that it has there, without a member's header
  std::uint64_t bytes = 0;                // the same when it is inflated
  bool member = false, deflated = false;  // of a zip archive; in DEFLATE
  std::optional<std::uint32_t> crc = {};  // CRC-32 of what it holds, where that is known
};

struct Tensor {
  // The key of an .npz without ".npy", or of a dictionary; nested ones are joined by '.', items of lists and tuples
  // have their numbers. Empty for what is the whole file. Up to 4 KiB, of any bytes.
  std::string name;
  ElementType type;
  std::vector<std::uint64_t> shape;    // at most 32
  std::vector<std::uint64_t> strides;  // in elements, as many as the shape has; none: row after row without gaps

  // Where the numbers are. The file, when it is gzipped, holds so many bytes; 0: it is not.
  std::uint64_t inflated = 0;
  Block block;
  std::uint64_t first = 0;  // the first element's place in the block, in bytes

  std::uint64_t elements() const;
  // Of its elements, row after row: what Reader::read() fills. It fits 64 bits.
  std::uint64_t bytes() const;
};

// What tensors a file holds, in the file's order. Reads as little as it can: a gzipped .npy is inflated as far as its
// header goes; a gzipped .pt all the way, at once up to 32 MiB and in pieces above, which takes three times as long;
// all else is read where it tells of its tensors. Memory: besides those 64 MiB, what the limits on headers and pickles
// are. What stands beside tensors in a .pt (numbers, texts) and arrays of texts or objects in an .npz are passed over;
// there may be no tensor. Errors: not_found, io, bad_data, conflict (it was cut short meanwhile); unsupported, which
// names what is refused and what to do; too_large, which names the limit.
// (cancelled) once `cancelled` says yes.
Outcome<std::vector<Tensor>> list(const std::string& path, Format format, const std::function<bool()>& cancelled = {});

// Reads tensors one after the other. The memory that it needs besides the caller's stays with it, so that the same
// serves thousands of files. For one thread.
class Reader {
 public:
  Reader();
  ~Reader();
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;

  // The memory that read() takes for a tensor of a file of this size, besides what it fills.
  static std::uint64_t bytes(const Tensor& tensor, std::uint64_t file_size);

  // Fills `out`, which has exactly tensor.bytes(), with its numbers, row after row without gaps, little-endian. The
  // caller has opened the file and has seen that it is the one that list() saw; nothing is believed for that. The path
  // is for messages. A CRC-32 is checked where all that it is of is read: of any gzipped file, any deflated member, and
  // any stored one that the tensor fills, but for PyTorch's when it is 0: then it was not computed.
  // Errors: conflict where the file is shorter than it was, bad_data, io. OutOfMemory is thrown.
  Outcome<void> read(int fd, std::uint64_t file_size, const std::string& path, const Tensor& tensor,
                     std::span<std::byte> out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace::tensor_file
