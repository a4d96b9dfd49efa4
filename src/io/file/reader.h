// Input: a path, as bytes.
// Output: the file's bytes from front to back in one pass, and their hash when the end is reached and it is asked for.
// Never: maps a file: one that is cut short by someone else is a short read, not a crash.
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
#include "src/io/file/place.h"
#include "src/memory/buffer.h"

namespace millrace {

// 128 bits of XXH3, big-endian: tells contents apart, and is confirmed by comparing bytes before anything is done.
using ContentHash = std::array<std::uint8_t, 16>;
// What hex_of_bytes() made of one; nothing when the text is anything else.
std::optional<ContentHash> content_hash_from_hex(std::string_view text);

// Whether a path may lead through symbolic links: a file that is acted upon is reached without them.
enum class Links : std::uint8_t { followed, refused };

class FileReader {
 public:
  // Bytes handed out at once, at most.
  static constexpr std::size_t kChunk = 256 * 1024;

  // The bytes are hashed as they pass, unless finish_hash() will not be called.
  enum class Hashing : std::uint8_t { on, off };
  static Outcome<std::unique_ptr<FileReader>> open(const std::string& path, Hashing hashing = Hashing::on,
                                                   Links links = Links::followed);
  // Of what is open already; the path is for messages.
  static Outcome<std::unique_ptr<FileReader>> of(Descriptor file, const std::string& path,
                                                 Hashing hashing = Hashing::on);
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;
  ~FileReader();

  // Asked before every chunk: once it says yes, reading fails as cancelled. A file may have no end to speak of: 15
  // terabytes of nothing take no room on a disk.
  void stop_when(std::function<bool()> cancelled) { cancelled_ = std::move(cancelled); }

  // The next bytes, empty at the end or after a failed read (failed() tells which). The span lives until the next call.
  std::span<const std::uint8_t> next();
  // The first bytes, without taking them: they come again from next(). At most kChunk.
  std::span<const std::uint8_t> peek();

  // Reads what is left and returns the hash of the whole file, which was opened with hashing on.
  Outcome<ContentHash> finish_hash();

  std::uint64_t size() const { return size_; }
  std::int64_t mtime_ns() const { return mtime_ns_; }
  std::uint64_t bytes_read() const { return read_; }
  bool failed() const { return error_number_ != 0; }
  Error error() const;
  int descriptor() const { return fd_.get(); }
  // Another descriptor, with a place in the file of its own, for a helper: of the very file that is open, whatever its
  // name stands for by now.
  Outcome<Descriptor> open_again() const;
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
  std::unique_ptr<HashState> hash_;  // none when hashing is off
};

// The hash of bytes in memory, as that of a file that holds them.
ContentHash content_hash(std::string_view bytes);
// 64 bits of XXH3 of bytes in memory.
std::uint64_t short_hash(std::span<const std::uint8_t> bytes);

// The hash of a file's contents, read from front to back.
Outcome<ContentHash> hash_file(const std::string& path, Links links = Links::followed,
                               const std::function<bool()>& cancelled = {});

// A file's contents as one text; no more than about `most` bytes of it, so that the caller can refuse what is too long.
Outcome<std::string> read_text(const std::string& path, std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

// The rest of what is read, in the same way.
Outcome<std::string> read_text(FileReader& file, std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

// True when both files hold the same bytes.
Outcome<bool> same_contents(const std::string& a, const std::string& b, Links links = Links::followed,
                            const std::function<bool()>& cancelled = {});
Outcome<bool> same_contents(FileReader& a, FileReader& b);

}  // namespace millrace
