// Input: a codec, a quality, and the format of frames.
// Output: the encoders to try, their settings, and the frame format that they need.
// Never: reduces bit depth or color resolution unless requested.
#pragma once

#include <string>

#include "src/io/video/video_encoder.h"
#include "src/jobs/video/options.h"

namespace millrace::video {

struct Encoding {
  Codec codec = Codec::h264;
  video_file::EncoderOptions options;
  std::string words;  // "h264, CRF 18, veryfast"
};

// Chooses an encoding for frames of this format, whose color properties are all known, in this container. The format in
// the result is the same, or one that holds all of it (more bits, more chroma). Throws Failure(usage) if the codec has
// none.
Encoding choose_encoding(const VideoOptions& options, const video_file::FrameShape& shape, const std::string& container,
                         const video_file::VideoFile& film);

// Returns the approximate number of frames that the encoder holds before it gives out the first packet.
std::uint64_t estimate_encoder_lookahead(const Encoding& encoding, Profile profile);

}  // namespace millrace::video
