// Input: the networks, and the pictures of a run.
// Output: whether they are to run in bfloat16: where masks of some of this run's own windows agree with float32's.
// Never: depends on how long either takes, or on which part of a run asks: all parts decide the same.
#pragma once

#include <optional>
#include <string>

#include "src/base/json.h"
#include "src/jobs/segment/inputs.h"
#include "src/jobs/segment/setup.h"
#include "src/pipeline/run_context.h"

namespace millrace::segment {

struct Agreement {
  model::Precision precision = model::Precision::f32;
  std::optional<double> dice;  // the least of any class, over all windows that were looked at; nothing: none was
  std::size_t windows = 0;
  std::string why;  // in words, for the summary
};

Json json_of(const Agreement& agreement);

// 2 |a and b| / (|a| + |b|) of the pixels of each label, the least of all; 1 of a label that neither has.
class DiceSums {
 public:
  explicit DiceSums(std::size_t labels) : both_(labels), one_(labels), other_(labels) {}
  void add(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b);
  double least() const;

 private:
  std::vector<std::uint64_t> both_, one_, other_;
};

// 16 windows, evenly from pictures that are spread over all there are. What an earlier run in the folder of results
// has decided stays. Needs options.least_dice.
Agreement agree(const Options& options, Setup& setup, const Inputs& inputs, RunContext& context);

}  // namespace millrace::segment
