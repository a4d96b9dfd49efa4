// Input: neural networks, once; then images in memory.
// Output: their masks and probabilities, classes, points and numbers.
// Never: reads or writes a picture, or keeps an image. Files are the networks' and their cards' alone, and what was
//   compiled of them in the user's cache (docs/segment.md).
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

// What a number in a mask stands for.
struct SegmentLabel {
  std::string name;
  std::array<std::uint8_t, 3> color{};  // red, green, blue
  bool drawn = true;                    // overlays show it
};

// Of a class of a mask. Shares and means are over all pixels of the image.
struct SegmentClass {
  std::string name;
  std::uint64_t pixels = 0, edge_pixels = 0;  // of the mask; of these in the image's outermost rows and columns
  double share = 0, mean_probability = 0;     // from 0 to 1
};

// In pixels, of which the first reaches from 0 to 1; NaN where no window was looked at.
struct SegmentPoint {
  std::string name;
  double x = std::numeric_limits<double>::quiet_NaN(), y = x;
  double value = x;  // of the point's map, there
};

// A class's probability, or a number.
struct SegmentValue {
  std::string name;
  std::string model;  // of several networks the one whose number it is; empty where it is of all
  double value = 0;
};

// Of one of the networks' outputs. What it is not for is empty.
struct SegmentOutput {
  std::string name;                  // empty where the network has one
  std::string task;                  // segmentation, keypoints, classification or regression
  std::vector<float> probability;    // [maps, height, width], row after row: of segmentation and keypoints
  std::size_t maps = 0;              // classes, or points
  std::vector<std::uint8_t> mask;    // [height, width], row after row: of segmentation
  std::vector<SegmentLabel> labels;  // of the mask's 0 and on
  std::vector<SegmentClass> classes;
  std::vector<SegmentPoint> points;
  std::vector<SegmentValue> values;
  // Of several networks: the share of pixels with any class of which they give different ones; else NaN.
  double disagreement = std::numeric_limits<double>::quiet_NaN();
};

struct SegmentedImage {
  std::int64_t height = 0, width = 0;
  std::uint64_t windows = 0, left_out = 0;  // that were asked of the networks; that nobody wanted
  std::vector<SegmentOutput> outputs;       // in the order of the networks' outputs
  // With preprocess=fundus: why somebody should look at it, and the field of view as JSON (docs/fundus.md).
  std::vector<std::string> doubts;
  std::string field_of_view;
};

struct SegmentWishes {
  // Of each image, in their order, an image of its sides that is black where nobody needs to look: windows there are
  // left out. Empty: everywhere.
  std::span<const ArrayView> regions;
  bool probabilities = true;            // false: `probability` stays empty, and takes no memory
  const CancelToken* cancel = nullptr;  // looked at until the call returns
};

// Thread-safe; calls that overlap wait for each other, as one has all threads. One that was moved from may only be
// assigned to or destroyed.
class MILLRACE_API Segmenter {
 public:
  // By name, as text; several values of repeatable ones.
  using Options = std::vector<std::pair<std::string, std::vector<std::string>>>;

  // Of `millrace segment` those that are not about files, pictures or devices. Variables of the environment, which hold
  // there, do not hold here.
  static std::vector<JobOption> describe_options();

  // `models` are paths of ONNX files. Opens and compiles them, which takes seconds; `cancel` ends it before they are
  // compiled, or behind that. Throws Failure: usage for an option or value that there is not, or not here, and for
  // precision=auto, which is decided by windows of all pictures of a run; unsupported, bad_data, not_found for models
  // and cards that cannot be used; out_of_memory; unavailable where nothing runs models here, and in a child of fork()
  // whose parent has run work of this library.
  explicit Segmenter(const std::vector<std::string>& models, const Options& options = {},
                     const CancelToken* cancel = nullptr);
  ~Segmenter();
  Segmenter(Segmenter&&) noexcept;
  Segmenter& operator=(Segmenter&&) noexcept;

  // "OpenVINO 2026.4.1", and f32 or bf16.
  const std::string& runtime() const;
  const std::string& precision() const;
  std::int64_t window_height() const;  // in pixels
  std::int64_t window_width() const;

  // An image is uint8 in host memory: [height, width] or [height, width, 1], gray, or [height, width, 3], RGB; sides
  // from 1 to 65,535; any strides. In their order; several are under way at once. The option `memory` is the most to
  // use beside images and results. Throws Failure, and there are no results: usage that names type and shape, before
  // any work; unsupported, bad_data that name the image ("image 3", from 0 on) where it cannot be used, as one without
  // a field of view, or where the networks give NaN; out_of_memory; cancelled; unavailable as the constructor.
  std::vector<SegmentedImage> segment(std::span<const ArrayView> images, const SegmentWishes& wishes = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace
