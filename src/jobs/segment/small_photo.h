// Input: photographs, and their records.
// Output: each at the size of its masks' previews, and what is drawn of these, for a page.
// Never: another picture than the one that a mask is of; one that depends on how much others need at the time.
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
  std::vector<std::uint8_t> jpeg;  // empty: the photograph is another by now, or too large for a page
  // Of layers of the page a PNG each; those of masks are missing where the record is another by now.
  std::vector<std::pair<std::size_t, std::vector<std::uint8_t>>> drawn;
};
// What is drawn on a picture, made of its masks, of each head; on any thread.
using DrawOn = std::function<void(const PictureResult& picture, const std::vector<SmallMask>& masks, SmallPhoto& on)>;

// Each pixel the mean of a block, as Preview has them; in the order of `pictures`. `output`: the folder of results.
std::vector<SmallPhoto> small_photos(const std::vector<const PictureResult*>& pictures, const std::string& output,
                                     const Setup& setup, const PictureFileOptions& files, const DrawOn& draw,
                                     RunContext& context);

}  // namespace millrace::segment
