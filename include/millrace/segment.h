// Input: neural networks, once; then images in memory.
// Output: their masks and probabilities, classes, points and numbers.
// Never: reads or writes an image file, or keeps an image. It reads only networks and their model cards, and stores
// compiled networks in the user's cache (docs/segment.md).
//
// Definitions: docs/segment.md. Results are those of `millrace segment`, bit for bit, for any number of threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "millrace/array.h"
#include "millrace/cancel.h"
#include "millrace/error.h"
#include "millrace/export.h"
#include "millrace/jobs.h"

namespace millrace {

// Meaning of one value in a mask.
struct SegmentLabel {
  std::string name;
  std::array<std::uint8_t, 3> color{};  // red, green, blue
  bool drawn = true;                    // shown by overlays
};

// Results for one class of a mask. Shares and means are over all pixels of the image.
struct SegmentClass {
  std::string name;
  std::uint64_t pixels = 0, edge_pixels = 0;  // in the mask; in the image's outermost rows and columns
  double share = 0, mean_probability = 0;     // from 0 to 1
};

// A point in pixel coordinates, where the first pixel reaches from 0 to 1; NaN if no window was evaluated.
struct SegmentPoint {
  std::string name;
  double x = std::numeric_limits<double>::quiet_NaN(), y = x;
  double value = x;  // value of the point's map at this position
};

// Probability of a class, or a number.
struct SegmentValue {
  std::string name;
  std::string model;  // with several networks: the one that gave the value; empty for a value of all
  double value = 0;
};

// Results of one output of the networks. Fields that do not apply are empty.
struct SegmentOutput {
  std::string name;                  // empty if the network has only one output
  std::string task;                  // segmentation, keypoints, classification or regression
  std::vector<float> probability;    // [maps, height, width], row after row; for segmentation and keypoints
  std::size_t maps = 0;              // number of classes or points
  std::vector<std::uint8_t> mask;    // [height, width], row after row; for segmentation
  std::vector<SegmentLabel> labels;  // for the mask's values, from 0 on
  std::vector<SegmentClass> classes;
  std::vector<SegmentPoint> points;
  std::vector<SegmentValue> values;
  // With several networks: among pixels with any class, the share on which the networks disagree; otherwise NaN.
  double disagreement = std::numeric_limits<double>::quiet_NaN();
};

struct SegmentedImage {
  std::int64_t height = 0, width = 0;
  std::uint64_t windows = 0, left_out = 0;  // windows evaluated by the networks; windows skipped
  std::vector<SegmentOutput> outputs;       // in the order of the networks' outputs
  // With preprocess=fundus: reasons to inspect the image, and the field of view as JSON (docs/fundus.md).
  std::vector<std::string> doubts;
  std::string field_of_view;
};

struct SegmentWishes {
  // An image for each input image, in their order and of the same sides, black where no result is needed. Windows that
  // are black there are skipped. Empty: every window is evaluated.
  std::span<const ArrayView> regions;
  bool probabilities = true;            // false: `probability` stays empty and uses no memory
  const CancelToken* cancel = nullptr;  // polled until the call returns
};

// Thread-safe; overlapping calls wait for each other, as each call uses all threads. A moved-from object may only be
// assigned to or destroyed.
class MILLRACE_API Segmenter {
 public:
  // Options by name, as text; several values for repeatable ones.
  using Options = std::vector<std::pair<std::string, std::vector<std::string>>>;

  // Lists the options of `millrace segment` that do not concern files, pictures or devices. Environment variables,
  // which set options of the program, have no effect here.
  static std::vector<JobOption> describe_options();

  // Opens and compiles networks, which takes seconds. `models` are paths of ONNX files. `cancel` takes effect before or
  // after the compilation. Throws Failure.
  // usage: an option or value does not exist, or not here; precision=auto, which a run decides from windows of all its
  // images.
  // unsupported, bad_data, not_found: a model or model card cannot be used.
  // out_of_memory.
  // unavailable: no runtime for models is available, or the process is a child of fork() whose parent has run work of
  // this library.
  explicit Segmenter(const std::vector<std::string>& models, const Options& options = {},
                     const CancelToken* cancel = nullptr);
  ~Segmenter();
  Segmenter(Segmenter&&) noexcept;
  Segmenter& operator=(Segmenter&&) noexcept;

  // Return "OpenVINO 2026.4.1", and f32 or bf16.
  const std::string& runtime() const;
  const std::string& precision() const;
  std::int64_t window_height() const;  // in pixels
  std::int64_t window_width() const;

  // Segments images and returns results in their order; several images are processed at once. An image is uint8 in host
  // memory: [height, width] or [height, width, 1] for gray, [height, width, 3] for RGB. Sides are from 1 to 65,535; any
  // strides are accepted. The option `memory` is the maximum memory besides images and results. Throws Failure, and
  // then there are no results.
  // usage, before any work: the message gives type and shape.
  // unsupported, bad_data: an image cannot be used, for example without a field of view, or the networks return NaN.
  // The message gives the image ("image 3", from 0 on).
  // out_of_memory, cancelled, and unavailable as for the constructor.
  std::vector<SegmentedImage> segment(std::span<const ArrayView> images, const SegmentWishes& wishes = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace
