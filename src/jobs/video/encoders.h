// Input: a codec, a quality, and what pictures are like.
// Output: which encoders to try and how to set them; and what pictures have to be like for them.
// Never: takes away bits or colours without being told to.
#pragma once

#include <string>

#include "src/io/video/film_encoder.h"
#include "src/jobs/video/options.h"

namespace millrace::video {

struct Encoding {
  Codec codec = Codec::h264;
  film::EncoderOptions options;
  std::string words;  // "h264, CRF 18, veryfast"
};

// For pictures of this shape, whose colours all have names, in this container. The shape in the options is what they
// have to be made: the same, or one that holds all of it (more bits, more chroma). Failure(usage) where the codec has
// none.
Encoding choose_encoding(const Options& options, const film::Shape& shape, const std::string& container,
                         const film::FilmFile& film);

// Pictures that the encoder has in hand before it gives out the first, about.
std::uint64_t encoder_look_ahead(const Encoding& encoding, Profile profile);

}  // namespace millrace::video
