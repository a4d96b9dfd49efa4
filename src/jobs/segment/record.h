// Input: what was counted of a picture while its results were written.
// Output: a file beside them that says so, by which a later run knows that they are whole; lines of the tables.
// Never: believes a file that says it of other contents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/json.h"
#include "src/io/file/file_digest.h"
#include "src/io/image/holding.h"
#include "src/jobs/field_of_view.h"
#include "src/jobs/segment/preview.h"
#include "src/jobs/segment/setup.h"

namespace millrace::segment {

// Of one class in one picture.
struct ClassResult {
  std::uint64_t pixels = 0;   // of the mask
  std::uint64_t at_edge = 0;  // of these, in the picture's outermost rows and columns
  double mean = 0;            // of what the activation made, over all pixels
};
// Where a map of points is highest: of the picture, whose first pixel reaches from 0 to 1. Nothing where no window was
// looked at.
struct Peak {
  double x = 0, y = 0, value = 0;
};
using Peaks = std::vector<std::optional<Peak>>;

// Of one of the networks' outputs. What it is not for is empty.
struct HeadResult {
  std::vector<ClassResult> classes;
  model::Votes votes;           // of several networks
  SmallMask preview;            // for the record alone; a run keeps none of them
  Peaks peaks;                  // by class
  std::vector<double> numbers;  // by class; of numbers by network, and in it by class
};

// What is known of a picture when it is done; also lines of the tables, and the file that says so.
struct PictureResult {
  std::string path, name;  // as it was named; below the folder of results
  std::string hash;        // of the file, in hexadecimal
  std::string roi;         // of the picture that says where to look; empty where there is none
  std::string maker;       // as Setup has it
  int width = 0, height = 0;
  std::uint64_t windows = 0, left_out = 0;
  std::string damage;               // why part of it is missing; empty where nothing is
  Unshown unshown;                  // what the file holds and no network saw
  std::vector<std::uint32_t> cuts;  // rows along which outlines are cut
  std::vector<HeadResult> heads;    // in the order of the networks' heads
  std::vector<FileDigest> files;    // what was written of it, for the record alone
  std::optional<FieldOfView> field;

  // The share of pixels with any label of which networks give different ones; 0 where none has any.
  double disagreement(std::size_t head) const;
};
// Its members but for path and name: what a run says of it, too.
Json json_of(const PictureResult& result, const Setup& setup);
std::string record_of(const PictureResult& result, const Setup& setup);
// Of one whose files are being put in place: that they are this job's, and no more.
std::string not_whole();
// What an earlier run wrote of a picture, without previews; nothing where it wrote none, or something else.
std::optional<PictureResult> earlier_result(const std::string& file, const Setup& setup);
// The previews in it, of each head; empty where there are none of this picture.
std::vector<SmallMask> previews_in(const std::string& file, const Setup& setup, const PictureResult& of);
// A file says that it is such a record, whatever else is in it: what lies beside it is this job's.
bool is_record(const std::string& file);

// Of the folder of results.
inline constexpr const char *kTableFile = "pictures.csv", *kPointsFile = "points.csv", *kValuesFile = "values.csv",
                            *kReportFile = "report.html";
}  // namespace millrace::segment
