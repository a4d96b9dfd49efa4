// Input: a device.
// Output: whether it compresses some pictures as the CPU does.
// Never: reads a file.
#pragma once

#include <cstdint>
#include <vector>

#include "src/device/accelerator.h"
#include "src/device/cpu/executor.h"
#include "src/kernels/rle_deflate/rle_deflate.h"

namespace millrace::rle_deflate {

// Pictures a byte a pixel: paper, with pieces of ink of all lengths, many of which repeat a level; the first one of
// them is empty, and in the last one no pixel is paper.
std::vector<std::uint8_t> make_planes(std::size_t count, int width, int height, std::uint64_t seed);
// One of them.
rle::Image picture_of(const std::uint8_t* plane, int width, int height);
// A code that was made for them.
Code code_for(const std::vector<std::uint8_t>& planes, int width, int height, const Layout& layout);

bool gives_known_answers(Accelerator& accelerator);
// The same of pictures that are made from the number of a round, and grow with it.
bool agrees(Accelerator& accelerator, const Executor& executor, std::uint64_t round);

}  // namespace millrace::rle_deflate
