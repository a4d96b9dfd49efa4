// Input: deflated bytes: a gzipped file, or a member of a zip archive.
// Output: their beginning, as far as somebody looks; or all of them, exactly as many as were promised.
// Never: gives memory for a promise that DEFLATE cannot keep, or more than was promised.
//
// Source of the formats: RFC 1951 and RFC 1952.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "src/io/tensor/source.h"
#include "src/memory/buffer.h"

struct libdeflate_decompressor;

namespace millrace {

// The most that so many deflated bytes can hold: 258 bytes take two bits at least.
std::uint64_t most_inflated(std::uint64_t deflated);

// Deflated bytes from front to back. Checks what gzip says of its contents when it comes to an end of them. Streams of
// gzip that follow one another are one, and zeros may follow, as gzip itself has it.
class InflateStream {
 public:
  enum class Wrapping : std::uint8_t { none, gzip };
  // Of `bytes` bytes at an offset of what stays where it is.
  InflateStream(Source& from, std::uint64_t offset, std::uint64_t bytes, Wrapping wrapping);
  ~InflateStream();
  InflateStream(const InflateStream&) = delete;
  InflateStream& operator=(const InflateStream&) = delete;

  // The next bytes: fewer than there is room for at the end alone. Throws Refusal.
  std::size_t read(std::span<std::byte> out);

 private:
  void fill();
  bool another_begins();

  Source& from_;
  std::uint64_t at_, left_;
  const Wrapping wrapping_;
  bool ended_ = false;
  z_stream stream_{};
  Buffer<std::byte> in_;
};

// A gzipped file as if it were not. What lies behind is inflated again from the start when it is asked for, so it
// serves those who look at a few places in order. Memory: kept to the window.
class GzipSource : public Source {
 public:
  GzipSource(Source& file, std::uint64_t file_bytes) : file_(file), file_bytes_(file_bytes) {}
  std::uint64_t size() override;
  void read(std::uint64_t offset, std::span<std::byte> out) override;

 private:
  // Twice this is held, so that the end of a file, where zip archives keep their directory, is at hand at the end.
  static constexpr std::size_t kChunk = 128 << 10;
  bool advance();

  Source& file_;
  const std::uint64_t file_bytes_;
  std::unique_ptr<InflateStream> stream_;
  Buffer<std::byte> window_;
  std::uint64_t window_at_ = 0;
  std::size_t window_size_ = 0;
  std::optional<std::uint64_t> size_;  // once the end was met
};

// All at once, into memory of exactly the size that was promised. Throws Refusal(bad_data) for more or less.
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

// CRC-32 of bytes that follow those which have `before`; 0 for the first.
std::uint32_t crc32_of(std::uint32_t before, std::span<const std::byte> bytes);

}  // namespace millrace
