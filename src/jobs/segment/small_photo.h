// Enters: photographs, and their records.
// Leaves: each at the size of its masks' previews, and these, for a page.
// Never: another picture than the one that a mask is of; one that depends on how much others need at the time.
#pragma once

#include <cstdint>
#include <vector>

#include "src/jobs/segment/record.h"
#include "src/pipeline/run_context.h"

namespace millrace::segment {

struct SmallPhoto {
  std::uint32_t width = 0, height = 0;
  std::vector<std::uint8_t> jpeg;  // empty: the photograph is another by now, or too large for a page
  std::vector<SmallMask> masks;    // of each head; empty: its record is another by now
};

// Each pixel the mean of a block, as Preview has them; in the order of `pictures`. `output`: the folder of results.
std::vector<SmallPhoto> small_photos(const std::vector<const PictureResult*>& pictures, const std::string& output,
                                     const Setup& setup, const PictureFileOptions& files, RunContext& context);

}  // namespace millrace::segment
