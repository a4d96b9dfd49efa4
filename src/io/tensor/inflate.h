// Input: deflated bytes: a gzipped file, or a member of a zip archive.
// Output: the inflated bytes up to a requested point; or all of them, exactly as many as were promised.
// Never: allocates memory for a promise that DEFLATE cannot keep, or returns more than was promised.
//
// Source of the formats: RFC 1951 and RFC 1952.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "src/io/tensor/random_access_source.h"
#include "src/memory/buffer.h"

struct libdeflate_decompressor;

namespace millrace {

// Returns the most that so many deflated bytes can hold: 258 bytes take two bits at least.
std::uint64_t max_inflated_bytes(std::uint64_t deflated);

// Inflates bytes from front to back. The checksum and length of a gzip stream are checked at its end. Streams of gzip
// that follow one another count as one, and zeros may follow, as in gzip itself.
class InflateStream {
 public:
  enum class Wrapping : std::uint8_t { none, gzip };
  // Reads `bytes` bytes at an offset of `from`, which must outlive the stream.
  InflateStream(RandomAccessSource& from, std::uint64_t offset, std::uint64_t bytes, Wrapping wrapping);
  ~InflateStream();
  InflateStream(const InflateStream&) = delete;
  InflateStream& operator=(const InflateStream&) = delete;

  // Returns the number of bytes read, which is less than out.size() only at the end. Throws ParseError.
  std::size_t read(std::span<std::byte> out);

 private:
  void fill();
  bool another_begins();

  RandomAccessSource& from_;
  std::uint64_t at_, left_;
  const Wrapping wrapping_;
  bool ended_ = false;
  z_stream stream_{};
  Buffer<std::byte> in_;
};

// Reads a gzipped file as if it were not compressed. For an offset before the window the file is inflated again from
// the start. This class therefore serves readers of a few places in order. Memory: only the window.
class GzipSource : public RandomAccessSource {
 public:
  GzipSource(RandomAccessSource& file, std::uint64_t file_bytes) : file_(file), file_bytes_(file_bytes) {}
  std::uint64_t size() override;
  void read(std::uint64_t offset, std::span<std::byte> out) override;

 private:
  // The window holds twice this: zip archives keep their directory at the end of a file, which is then in memory.
  static constexpr std::size_t kChunk = 128 << 10;
  bool advance();

  RandomAccessSource& file_;
  const std::uint64_t file_bytes_;
  std::unique_ptr<InflateStream> stream_;
  Buffer<std::byte> window_;
  std::uint64_t window_at_ = 0;
  std::size_t window_size_ = 0;
  std::optional<std::uint64_t> size_;  // known once the end was reached
};

// Inflates all at once, into memory of exactly the promised size. Throws ParseError(bad_data) for more or less.
class Inflater {
 public:
  Inflater();
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  void raw(std::span<const std::byte> deflated, std::span<std::byte> out);
  void gzip(std::span<const std::byte> gzipped, std::span<std::byte> out);

 private:
  libdeflate_decompressor* const state_;
};

// Returns the CRC-32 of bytes that follow others whose CRC-32 is `before`; 0 for the first.
std::uint32_t crc32_of(std::uint32_t before, std::span<const std::byte> bytes);

}  // namespace millrace
