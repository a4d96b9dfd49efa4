// Enters: rows of a picture's outputs, as the network and the blending left them.
// Leaves: its mask and its probabilities as files, and what is counted of them.
// Never: leaves a file that is not whole.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/io/file/atomic_file.h"
#include "src/io/image/png_write.h"
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
  int width = 0, height = 0;
  std::uint64_t windows = 0;
  std::string damage;  // why part of it is missing; empty where nothing is
  std::vector<ClassResult> classes;
};
std::string json_of(const PictureResult& result, const Setup& setup);
// What an earlier run wrote of a picture of these contents; nothing where it wrote none, or of others.
std::optional<PictureResult> earlier_result(const std::string& file, const std::string& hash, const Setup& setup);

// The names of what is written of a picture.
std::string mask_path(const std::string& folder, const std::string& name);
std::string probability_path(const std::string& folder, const std::string& name);
std::string record_path(const std::string& folder, const std::string& name);

class ResultWriter {
 public:
  ResultWriter(const Options& options, const Setup& setup, std::string name, int width, int height);

  // The next row, [classes, width], before its activation; it is changed.
  void append(std::span<float> row);
  // Files have their names; then the record says that they are whole. Error(bad_data) where a number is not finite, and
  // no files.
  Outcome<PictureResult> finish(PictureResult result);

 private:
  void label(std::span<const float> row);

  const Options& options_;
  const Setup& setup_;
  const std::string name_;
  const std::size_t width_, height_;
  std::vector<std::uint8_t> labels_;
  std::vector<std::uint64_t> pixels_;
  std::vector<double> sums_;
  std::optional<PalettePng> mask_;
  std::optional<AtomicFile> probability_;
  std::uint64_t probability_at_ = 0, row_ = 0;
};

}  // namespace millrace::segment
