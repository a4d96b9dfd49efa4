// Messages that the program and millrace-film exchange over a socket. Frames travel in shared memory.
//
// A helper gets one task: to describe a file (probe), decode a stream of it (decode), encode frames (encode), or mux
// packets with its streams (mux). The parameters are JSON. Both sides are built from the same source, so the structures
// are sent as they lie in memory.
//
//   probe   + file    -> text, the file's description
//   decode  + file    -> frame (slot), ...; end. The program returns slots with `slot`. The helper waits for one.
//   encode            -> opened (data: headers for decoders); the program sends frame (slot), ..., drain, and may
//                        then send encode again; the helper sends slot when it has finished with one, packet (data),
//                        and end after the last packet.
//   mux     + file    -> opened (text); the program sends go_on; then want, to which the program answers packet (data)
//                        or end; write (data) at an offset of the output; end.
// `failed` (text) may come from the helper instead of any other message.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/io/video/frame.h"

namespace millrace::video_file {

inline constexpr int kSocket = 3;  // descriptor numbers inside the helper
inline constexpr int kSlots = 4;

enum class MessageKind : std::uint32_t {
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

inline constexpr std::uint32_t kMaxText = 16 << 20;
inline constexpr std::uint32_t kMaxData = 1 << 30;

// Message, followed by `text_bytes` of text and `data_bytes` of data.
struct Message {
  MessageKind kind = MessageKind::end;
  std::uint32_t text_bytes = 0, data_bytes = 0;
  std::uint32_t slot = 0;
  std::uint32_t error_code = 0;  // ErrorCode of `failed`
  std::uint32_t key = 0;         // packet: later ones need no packet before it
  std::uint32_t side_bytes = 0;  // packet: bytes at the end of its data that are side data (alpha in Matroska)
  std::uint32_t damaged = 0;     // frame: part of it could not be decoded
  std::int64_t pts = 0, dts = 0, duration = 0;  // in units of the stream; dts only in packets
  std::uint64_t offset = 0;                     // of `write`
  std::uint64_t errors =
      0;             // decoding (`frame`, `end`): packets so far that could not be decoded; muxing: packets moved
  FrameShape shape;  // of a decoded frame
};

// kNoTime is an unknown time. Times are within +-kMaxTime, so that sums of a few of them do not overflow.
inline constexpr std::int64_t kNoTime = INT64_MIN, kMaxTime = std::int64_t{1} << 58;
inline constexpr std::int64_t time_or_none(std::int64_t time) {
  return time > -kMaxTime && time < kMaxTime ? time : kNoTime;
}

}  // namespace millrace::video_file
