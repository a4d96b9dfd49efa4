// Messages that the program and its decoding helper exchange over a socket. Pixels travel in shared memory.
//
// A request carries the open file as a descriptor, so the helper never needs a path. A codec that uses memory before it
// knows its picture sends `memory` and waits for a go-ahead. The helper sends `begin`, `rows` for each strip in the
// shared memory, and `end`. It waits for a go-ahead after `begin` and after each `rows`. `failed` may come instead of
// any of them. Both sides are built from the same source, so structures are sent as they lie in memory.
#pragma once

#include <cstdint>

namespace millrace::helper {

inline constexpr int kSocket = 3;  // descriptor numbers inside the helper
inline constexpr int kSharedMemory = 4;
inline constexpr std::size_t kSharedBytes = 4 << 20;
inline constexpr std::uint32_t kMaxTextBytes = 4096;
inline constexpr std::uint32_t kMaxExifBytes = 1 << 20;

struct DecodeRequest {
  std::uint32_t format;        // ImageFormat
  std::int32_t shortest_side;  // 0: full size
  std::uint32_t gray, luma;    // as in DecodeOptions; for JPEG
  std::uint32_t wide_gray;     // as in DecodeOptions
  std::uint32_t over_gray;     // as in DecodeOptions
  std::uint32_t raw_data;      // as in DecodeOptions; for RAW
  std::uint64_t memory_limit;  // bytes that the helper may allocate, 0: no limit; its first request sets it for good
};

enum class MessageKind : std::uint32_t { memory, begin, rows, end, failed };

// Message from the helper. It is followed by `text_bytes` of text (the reason in `end` and `failed`). Then come
// `exif_bytes` of an EXIF block (of `begin`, or of `end` where the block came after the rows).
struct DecoderMessage {
  MessageKind kind;
  std::uint32_t error_code;  // ErrorCode of `failed`
  std::int32_t width, height, full_width, full_height, channels;
  std::uint32_t exact, clips;
  std::uint64_t decoder_memory;
  std::int32_t rows;
  std::uint32_t damaged;
  std::uint32_t unshown;     // UnshownData's bits, in `end`
  std::int32_t orientation;  // 1 to 8, or 0: read it from the EXIF block
  std::uint32_t text_bytes, exif_bytes;
};

enum class ProgramReply : std::uint32_t { proceed, stop };

}  // namespace millrace::helper
