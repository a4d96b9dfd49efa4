// What the program and millrace-film say to each other over a socket; frames travel in shared memory.
//
// A helper is told once what it is for: to say what a file holds (probe), to decode a stream of it (decode), to encode
// frames (encode), or to put packets together with the streams of a file (mux). What that takes is JSON. Both sides
// are built from the same source, so the structures are sent as they lie in memory.
//
//   probe   + file    -> text, the file's description
//   decode  + file    -> frame (slot), ...; end. The program gives slots back with `slot`. The helper waits for one.
//   encode            -> opened (data: what decoders need first); the program sends frame (slot), ..., drain, and may
//                        then send encode again; the helper sends slot when it is through with one, packet (data), and
//                        end behind the last packet.
//   mux     + file    -> opened (text); the program says go_on; then want, to which the program answers packet (data)
//                        or end; write (data) at a place of the output; end.
// `failed` (text) may come from the helper in the place of anything.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/io/video/frame.h"

namespace millrace::film {

inline constexpr int kSocket = 3;  // descriptor numbers inside the helper
inline constexpr int kSlots = 4;

enum class Say : std::uint32_t {
  probe,
  decode,
  encode,
  mux,
  go_on,
  slot,
  frame,
  drain,
  packet,
  want,
  write,
  opened,
  end,
  text,
  failed
};

inline constexpr std::uint32_t kMostText = 16 << 20;
inline constexpr std::uint32_t kMostData = 1 << 30;

// Followed by `text_bytes` of text and `data_bytes` of data.
struct Message {
  Say say = Say::end;
  std::uint32_t text_bytes = 0, data_bytes = 0;
  std::uint32_t slot = 0;
  std::uint32_t error_code = 0;  // ErrorCode, of `failed`
  std::uint32_t key = 0;         // of a packet: others need none before it
  std::uint32_t side_bytes = 0;  // of a packet: so many at the end of its data go beside the stream (alpha in Matroska)
  std::uint32_t damaged = 0;     // of a frame: part of it could not be decoded
  std::int64_t pts = 0, dts = 0, duration = 0;  // in units of the stream; dts of packets alone
  std::uint64_t offset = 0;                     // of `write`
  std::uint64_t errors =
      0;        // of `frame` and `end` of decoding: packets that could not be decoded yet; of muxing: moved
  Shape shape;  // of a frame that was decoded
};

// A time that is not known. Times are below this, either way: sums of a few of them are numbers, too.
inline constexpr std::int64_t kNoTime = INT64_MIN, kMostTime = std::int64_t{1} << 58;
inline constexpr std::int64_t time_or_none(std::int64_t time) {
  return time > -kMostTime && time < kMostTime ? time : kNoTime;
}

}  // namespace millrace::film
