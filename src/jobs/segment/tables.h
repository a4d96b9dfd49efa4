// Input: what is known of pictures that are done.
// Output: tables of them, as rows of texts, and as CSV.
// Never: leaves out a picture that has nothing to count.
#pragma once

#include <string>
#include <vector>

#include "src/jobs/segment/record.h"

namespace millrace::segment {

struct RecordTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};
// With the columns' names first.
std::string csv_of(const RecordTable& table);

// A line a picture and class of a mask; of networks that make none a line a picture, without one.
RecordTable table_of(const std::vector<PictureResult>& pictures, const Setup& setup);
// A line a picture and point; of one that was not looked for, as no window was, without a place.
RecordTable points_of(const std::vector<PictureResult>& pictures, const Setup& setup);
// A line a picture and class, or number and network.
RecordTable values_of(const std::vector<PictureResult>& pictures, const Setup& setup);

}  // namespace millrace::segment
