// Input: the results of images that are done.
// Output: tables of these results, as rows of texts and as CSV.
// Never: leaves out an image without counts.
#pragma once

#include <string>
#include <vector>

#include "src/jobs/segment/record.h"

namespace millrace::segment {

struct RecordTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};
// Returns the table as CSV, with a header.
std::string csv_of(const RecordTable& table);

// Table with a row per image and class of a mask; for networks without masks, a row per image without a class.
RecordTable make_class_table(const std::vector<PictureResult>& pictures, const Setup& setup);
// Table with a row per image and keypoint; the position is empty if no window was segmented.
RecordTable make_keypoint_table(const std::vector<PictureResult>& pictures, const Setup& setup);
// Table with a row per image and class, or per number and network.
RecordTable make_value_table(const std::vector<PictureResult>& pictures, const Setup& setup);

}  // namespace millrace::segment
