// Enters: what was counted of a picture while its results were written.
// Leaves: a file beside them that says so, by which a later run knows that they are whole; a line of the table.
// Never: believes a file that says it of other contents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/jobs/segment/setup.h"

namespace millrace::segment {

// Of one class in one picture.
struct ClassResult {
  std::uint64_t pixels = 0;  // of the mask
  double mean = 0;           // of what the activation made, over all pixels
};

// What is known of a picture when it is done; also a line of the table, and the file that says so.
struct PictureResult {
  std::string path, name;  // as it was named; below the folder of results
  std::string hash;        // of the file, in hexadecimal
  std::string roi;         // of the picture that says where to look; empty where there is none
  int width = 0, height = 0;
  std::uint64_t windows = 0, left_out = 0;
  std::string damage;               // why part of it is missing; empty where nothing is
  std::vector<std::uint32_t> cuts;  // rows along which outlines are cut
  std::vector<ClassResult> classes;
};
std::string json_of(const PictureResult& result, const Setup& setup);
// Of one whose files are being put in place: that they are this job's, and no more.
std::string not_whole();
// What an earlier run wrote of a picture; nothing where it wrote none, or something else.
std::optional<PictureResult> earlier_result(const std::string& file, const Setup& setup);
// A file says that it is such a record, whatever else is in it: what lies beside it is this job's.
bool is_record(const std::string& file);

// Of the folder of results.
inline constexpr const char* kTableFile = "pictures.csv";
// The table of all pictures, with its header.
std::string table_of(const std::vector<PictureResult>& pictures, const Setup& setup);

}  // namespace millrace::segment
