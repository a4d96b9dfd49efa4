// Input: the networks, and the images of a run.
// Output: the decision whether to use bfloat16. It is used if masks of some of the run's own windows agree with those
//   of float32.
// Never: depends on run times, or on the shard: all runs that share the work decide the same.
#pragma once

#include <optional>
#include <string>

#include "src/base/json.h"
#include "src/jobs/segment/inputs.h"
#include "src/jobs/segment/setup.h"
#include "src/pipeline/run_context.h"

namespace millrace::segment {

struct PrecisionDecision {
  model::Precision precision = model::Precision::f32;
  // Smallest Dice coefficient of any class, over all windows that were compared; empty if none was.
  std::optional<double> dice;
  std::size_t windows = 0;
  std::string why;  // for the summary
};

Json json_of(const PrecisionDecision& precision_decision);

// Dice coefficient 2 |a and b| / (|a| + |b|) of the pixels of each label; 1 for a label that neither has. least() is
// the smallest.
class DiceSums {
 public:
  explicit DiceSums(std::size_t labels) : both_(labels), one_(labels), other_(labels) {}
  void add(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b);
  double least() const;

 private:
  std::vector<std::uint64_t> both_, one_, other_;
};

// Compares 16 windows of images that are evenly spread over all inputs. A decision of an earlier run in the results
// folder is kept. Needs options.min_dice.
PrecisionDecision decide_precision(const Options& options, Setup& setup, const SegmentInputs& inputs,
                                   RunContext& context);

}  // namespace millrace::segment
