// Input: the path of a file, as bytes.
// Output: the file's bytes from front to back in one pass, and at the end their hash if it is requested.
// Never: maps a file into memory: a file that somebody truncates gives a short read, not a crash.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "src/base/error.h"
#include "src/io/file/directory_entry.h"
#include "src/memory/buffer.h"

namespace millrace {

// 128 bits of XXH3, big-endian. The hash tells contents apart; a comparison of the bytes confirms it before any action.
using ContentHash = std::array<std::uint8_t, 16>;
// Parses a hash that hex_of_bytes() wrote; nullopt if the text is not 32 hexadecimal digits.
std::optional<ContentHash> content_hash_from_hex(std::string_view text);

// Permission for a path to lead through symbolic links: a file that is acted upon is reached without them.
enum class LinkPolicy : std::uint8_t { followed, refused };

class FileReader {
 public:
  // Maximum number of bytes that one call returns.
  static constexpr std::size_t kChunk = 256 * 1024;

  // The bytes are hashed while they are read; `off` is for files whose finish_hash() is not called.
  enum class Hashing : std::uint8_t { on, off };
  static Outcome<std::unique_ptr<FileReader>> open(const std::string& path, Hashing hashing = Hashing::on,
                                                   LinkPolicy links = LinkPolicy::followed);
  // Reads a file that is already open; the path is for messages.
  static Outcome<std::unique_ptr<FileReader>> make(Descriptor file, const std::string& path,
                                                   Hashing hashing = Hashing::on);
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;
  ~FileReader();

  // Sets a callback that is called before every chunk. Once it returns true, reading fails as cancelled. A file can be
  // practically endless: a sparse file of 15 terabytes takes no room on a disk.
  void set_cancelled(std::function<bool()> cancelled) { cancelled_ = std::move(cancelled); }

  // Returns the next bytes, empty at the end or after a failed read (failed() tells which). The span is valid until the
  // next call.
  std::span<const std::uint8_t> next();
  // Returns the next bytes without consuming them: next() returns them again. At most kChunk.
  std::span<const std::uint8_t> peek();

  // Reads the rest and returns the hash of the whole file, which was opened with hashing on.
  Outcome<ContentHash> finish_hash();

  std::uint64_t size() const { return size_; }
  std::int64_t mtime_ns() const { return mtime_ns_; }
  std::uint64_t bytes_read() const { return read_; }
  bool failed() const { return error_number_ != 0; }
  Error error() const;
  int descriptor() const { return fd_.get(); }
  // Opens the same file again, whatever its name leads to by now. The new descriptor has its own position, for a helper
  // process.
  Outcome<Descriptor> reopen() const;
  const std::string& path() const { return path_; }

 private:
  FileReader(std::string path, Descriptor file, Hashing hashing);
  std::size_t fill();

  std::string path_;
  Descriptor fd_;
  std::function<bool()> cancelled_;
  int error_number_ = 0;
  std::uint64_t size_ = 0, read_ = 0;
  std::int64_t mtime_ns_ = 0;
  bool peeked_ = false;
  std::size_t chunk_size_ = 0;
  Buffer<std::uint8_t> chunk_;
  struct HashState;
  std::unique_ptr<HashState> hash_;  // null when hashing is off
};

// Returns the hash of bytes in memory; equal to the hash of a file that holds them.
ContentHash content_hash(std::string_view bytes);
// Returns 64 bits of XXH3 of bytes in memory.
std::uint64_t short_hash(std::span<const std::uint8_t> bytes);

// Returns the hash of a file's contents, read from front to back.
Outcome<ContentHash> hash_file(const std::string& path, LinkPolicy links = LinkPolicy::followed,
                               const std::function<bool()>& cancelled = {});

// Reads a file as text; stops after about `most` bytes, so that the caller can refuse a file that is too long.
Outcome<std::string> read_text(const std::string& path, std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

// Reads the rest of an open file in the same way.
Outcome<std::string> read_text(FileReader& file, std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

// True when both files hold the same bytes.
Outcome<bool> have_same_contents(const std::string& a, const std::string& b, LinkPolicy links = LinkPolicy::followed,
                                 const std::function<bool()>& cancelled = {});
Outcome<bool> have_same_contents(FileReader& a, FileReader& b);

}  // namespace millrace
