// Input: what a run made of its pictures.
// Output: a page to look through: photographs with their masks, those first that look wrong; areas and how they are
//   spread; points, classes and numbers; what could not be used.
// Never: shows a mask on another photograph than its own; asks a network, or reads masks that lie in files.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/io/output/output.h"
#include "src/jobs/segment/record.h"
#include "src/pipeline/run_context.h"

namespace millrace::segment {

struct PageView {
  const std::vector<PictureResult>& pictures;
  const std::vector<Error>& unusable;
  const Setup& setup;
  const PictureFileOptions& files;
  const std::string& output;  // the folder of results, whose records have the masks at a small size
  std::vector<std::pair<std::string, std::string>> made_of;  // what results are made with, in words
};

// At most so many are pictures on the page, those that look most wrong; tables are of all.
inline constexpr std::size_t kMostPictures = 200;

std::string page_of(const PageView& view, RunContext& context);
OutputKind page_kind();

}  // namespace millrace::segment
