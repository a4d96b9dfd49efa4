// Input: the results of a run.
// Output: a report page. It shows photographs with their masks, suspicious ones first; areas and their distribution;
//   points, classes and numbers; and files that could not be used.
// Never: shows a mask on another photograph than its own; runs a network, or reads masks from files.
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
  const std::string& output;                                    // results folder; its records contain small masks
  std::vector<std::pair<std::string, std::string>> provenance;  // provenance of the results, in words
};

// Maximum number of images on the page, those that look most wrong; tables cover all images.
inline constexpr std::size_t kMaxPictures = 200;

std::string make_page(const PageView& view, RunContext& context);
OutputKind page_kind();

}  // namespace millrace::segment
