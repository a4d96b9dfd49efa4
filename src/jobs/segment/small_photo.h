// Input: photographs, and their records.
// Output: each photograph at the size of its masks' previews, and the layers drawn on it, for a report page.
// Never: shows a photograph with masks of another one; lets the memory in use at the time decide what is shown.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "src/jobs/segment/record.h"
#include "src/pipeline/run_context.h"

namespace millrace::segment {

struct SmallPhoto {
  std::uint32_t width = 0, height = 0;
  std::vector<std::uint8_t> jpeg;  // empty if the photograph has changed since, or is too large for a page
  // (layer of the page, PNG) for each layer; those of masks are missing if the record has changed since.
  std::vector<std::pair<std::size_t, std::vector<std::uint8_t>>> drawn;
};
// Draws the layers of an image from the masks of its heads; called on any thread.
using DrawLayers =
    std::function<void(const PictureResult& picture, const std::vector<SmallMask>& masks, SmallPhoto& on)>;

// Reduces the photographs: each pixel is the mean of a block, as in Preview. The order is that of `pictures`. `output`
// is the results folder.
std::vector<SmallPhoto> make_small_photos(const std::vector<const PictureResult*>& pictures, const std::string& output,
                                          const Setup& setup, const PictureFileOptions& files, const DrawLayers& draw,
                                          RunContext& context);

}  // namespace millrace::segment
