// Input: the path of an image, and the format of a video's frames.
// Output: the image in that format, oriented as the frames are stored. It is scaled until it covers the frame, and the
//   excess is cut off equally on both sides.
// Never: stretches the image.
#pragma once

#include <string>

#include "src/io/video/colors.h"
#include "src/memory/buffer.h"
#include "src/pipeline/run_context.h"

namespace millrace::video {

// Throws a Failure if the image cannot be read.
Buffer<std::uint8_t> read_background(const std::string& path, const video_file::FrameShape& shape, int rotation,
                                     RunContext& context);

}  // namespace millrace::video
