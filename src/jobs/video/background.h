// Input: the path of a picture, and what a film's pictures are like.
// Output: the picture as one of them, lying as the film is stored: scaled until it covers it, what sticks out cut off
// on both sides alike. Never: stretches it.
#pragma once

#include <string>

#include "src/io/video/colors.h"
#include "src/memory/buffer.h"
#include "src/pipeline/run_context.h"

namespace millrace::video {

// Failure as reading pictures gives it.
Buffer<std::uint8_t> background_picture(const std::string& path, const film::Shape& shape, int rotation,
                                        RunContext& context);

}  // namespace millrace::video
