// Input: the counts of an image, made while its results were written.
// Output: a record file beside the results, by which a later run knows that they are complete; rows of the tables.
// Never: trusts a record of other content.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/json.h"
#include "src/io/file/file_digest.h"
#include "src/io/image/extra_data.h"
#include "src/jobs/field_of_view.h"
#include "src/jobs/segment/preview.h"
#include "src/jobs/segment/setup.h"

namespace millrace::segment {

// Counts of one class in one image.
struct ClassResult {
  std::uint64_t pixels = 0;   // pixels in the mask
  std::uint64_t at_edge = 0;  // pixels of these in the image's outermost rows and columns
  double mean = 0;            // mean activated output over all pixels
};
// Maximum of a keypoint map, in pixels of the image; the first pixel extends from 0 to 1. Empty if no window was
// segmented.
struct Peak {
  double x = 0, y = 0, value = 0;
};
using Peaks = std::vector<std::optional<Peak>>;

// Results of one output of the networks; members for other tasks are empty.
struct HeadResult {
  std::vector<ClassResult> classes;
  model::Disagreement votes;    // of several networks
  SmallMask preview;            // only for the record; a run does not keep it
  Peaks peaks;                  // by class
  std::vector<double> numbers;  // by class; for regression by network, and then by class
};

// Results of an image that is done: the rows of the tables, and the content of its record.
struct PictureResult {
  std::string path, name;       // as the user named it; relative to the results folder
  std::string hash;             // of the file, in hexadecimal
  std::string roi;              // hash of the region image; empty if there is none
  std::string runtime_and_cpu;  // as in Setup
  int width = 0, height = 0;
  std::uint64_t windows = 0, left_out = 0;
  std::string damage;               // reason why part of the image is missing; empty if it is complete
  UnshownData unshown;              // content of the file that no network saw
  std::vector<std::uint32_t> cuts;  // rows along which outlines are cut
  std::vector<HeadResult> heads;    // in the order of the networks' heads
  std::vector<FileDigest> files;    // files that were written, only for the record
  std::optional<FieldOfView> field;

  // Returns the share of labeled pixels for which the networks disagree on the label; 0 if no pixel has a label.
  double disagreement(std::size_t head) const;
};
// Returns all members but path and name; they are also part of a run's JSON.
Json json_of(const PictureResult& result, const Setup& setup);
std::string format_record(const PictureResult& result, const Setup& setup);
// Returns a record without results. It marks files as this job's while they are being published.
std::string make_incomplete_record();
// Returns the record of an earlier run, without previews; nothing if there is none, or if the file is something else.
std::optional<PictureResult> read_previous_result(const std::string& file, const Setup& setup);
// Returns the previews in a record, one per head; empty if the record is of another image.
std::vector<SmallMask> read_previews(const std::string& file, const Setup& setup, const PictureResult& of);
// True if the file is a record, even without results: then the files beside it are this job's.
bool is_record(const std::string& file);

// Names of files in the results folder.
inline constexpr const char *kTableFile = "pictures.csv", *kPointsFile = "points.csv", *kValuesFile = "values.csv",
                            *kReportFile = "report.html";
}  // namespace millrace::segment
