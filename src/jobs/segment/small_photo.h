// Enters: a photograph's file.
// Leaves: it at the size of its masks' previews, for a page.
// Never: another picture than the one that a mask is of; a decoder's memory beyond what was paid for.
#pragma once

#include <cstdint>
#include <vector>

#include "src/jobs/segment/record.h"
#include "src/pipeline/run_context.h"

namespace millrace::segment {

struct SmallPhoto {
  std::uint32_t width = 0, height = 0;
  std::vector<std::uint8_t> jpeg;  // empty: there is none any more that is that picture, or it is too large for a page
};

// Each pixel the mean of a block, as Preview has them.
SmallPhoto small_photo(const PictureFileOptions& files, const PictureResult& picture, RunContext& context);

}  // namespace millrace::segment
