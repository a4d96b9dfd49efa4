// What the program and its decoding helper say to each other over a socket; pixels travel in shared memory.
//
// A request carries the open file as a descriptor, so the helper never needs a path. A codec that works before it knows
// its picture asks with `memory` and waits for a go-ahead. The helper answers `begin`, then waits for a go-ahead; then
// `rows` for each strip that lies in the shared memory, waiting for a go-ahead after each; then `end`. `failed` may
// come instead of any of them. Both sides are built from the same source, so the structures are sent as they lie in
// memory.
#pragma once

#include <cstdint>

namespace millrace::helper {

inline constexpr int kSocket = 3;  // descriptor numbers inside the helper
inline constexpr int kSharedMemory = 4;
inline constexpr std::size_t kSharedBytes = 4 << 20;
inline constexpr std::uint32_t kMostText = 4096;
inline constexpr std::uint32_t kMostExif = 1 << 20;

struct Request {
  std::uint32_t format;        // ImageFormat
  std::int32_t shortest_side;  // 0: in full
  std::uint32_t gray, luma;    // as DecodeOptions has them; for JPEG
  std::uint32_t wide_gray;     // likewise
  std::uint32_t over_gray;     // likewise
  std::uint32_t raw_data;      // likewise; for RAW
  std::uint64_t memory_limit;  // what the helper may allocate, 0: no limit; that of its first request stays
};

enum class Kind : std::uint32_t { memory, begin, rows, end, failed };

// Followed by `text_bytes` of text (a reason, of `end` and `failed`) and `exif_bytes` of an EXIF block (of `begin`, or
// of `end` where it came after the rows).
struct Message {
  Kind kind;
  std::uint32_t error_code;  // ErrorCode, of `failed`
  std::int32_t width, height, full_width, full_height, channels;
  std::uint32_t exact, clips;
  std::uint64_t decoder_memory;
  std::int32_t rows;
  std::uint32_t damaged;
  std::uint32_t unshown;     // Unshown's bits, of `end`
  std::int32_t orientation;  // 0: read it from the EXIF block; else 1 to 8
  std::uint32_t text_bytes, exif_bytes;
};

enum class Answer : std::uint32_t { go_on, stop };

}  // namespace millrace::helper
