// Input: a device.
// Output: true if it compresses test images exactly as the CPU does.
// Never: reads a file.
#pragma once

#include <cstdint>
#include <vector>

#include "src/device/accelerator.h"
#include "src/device/cpu/executor.h"
#include "src/kernels/rle_deflate/rle_deflate.h"

namespace millrace::rle_deflate {

// Makes images of one byte per pixel: background with foreground pieces of all lengths, many of which repeat a level.
// The first image is empty, and the last one has no background pixel.
std::vector<std::uint8_t> make_planes(std::size_t count, int width, int height, std::uint64_t seed);
// Converts one of these images to runs.
rle::Image picture_of(const std::uint8_t* plane, int width, int height);
// Makes a code for these images.
DeflateCode make_code(const std::vector<std::uint8_t>& planes, int width, int height, const StreamLayout& layout);

bool gives_known_answers(Accelerator& accelerator);
// Compares images that are generated from the number of the round, and grow with it.
bool agrees_with_cpu(Accelerator& accelerator, const Executor& executor, std::uint64_t round);

}  // namespace millrace::rle_deflate
