// Input: the options, and the models that they open.
// Output: the networks' input formats for images, and the provenance of the results.
// Never: runs a network.
#pragma once

#include "src/io/store/dataset.h"
#include "src/jobs/segment/options.h"
#include "src/model/ensemble.h"
#include "src/pipeline/run_context.h"

namespace millrace::segment {

struct Setup {
  std::vector<model::PictureModel> models;
  std::int64_t height = 0, width = 0;  // of a window
  // Bytes per pixel of the rows from which windows are cut: 1, 3 or 6. A gray image has 1 in any case, unless it
  // becomes a square.
  std::size_t pixel = 3;
  std::vector<model::InputForm> forms;  // input formats of a window, one after the other
  model::Preprocess preprocess = model::Preprocess::none;
  std::int64_t size = 0;  // side of the square, if there is one
  // The following members are set when the networks are compiled.
  std::vector<model::Head> heads;
  std::string runtime_and_cpu;  // runtime and CPU, if a folder may hold results of several; else empty
  bool is_activated = false;    // true if the networks' outputs are already activated

  std::uint64_t input_elements() const;
  // Returns the number of channels of all maps.
  std::size_t channels() const;
  // True if one of the heads has this task.
  bool has(model::ModelTask task) const;
  // True if a head classifies the image or gives numbers for it; then there must be a single window.
  bool has_numbers() const { return has(model::ModelTask::classification) || has(model::ModelTask::regression); }
  // Returns the file name of a model, with its position if another model has the same name.
  std::string model_name(std::size_t k) const;
};

// Throws Failure(usage) if options are missing or do not fit together, and what opening a model throws.
Setup set_up(const Options& options, const std::function<bool()>& cancelled);
// Throws Failure(usage) if windows are cut from a square.
void refuse_region_of_square(const Setup& setup);
// Adds the properties of the compiled networks. Throws Failure(usage) if they need another preprocessing.
void complete_setup(const Options& options, Setup& setup, const model::Ensemble& ensemble);

// Returns the options for running the networks.
model::Ensemble::Options ensemble_options(const Options& options, const RunContext& context);

// Returns the policy for run.json; empty if the user chose a precision.
std::string precision_policy(const Options& options);

// Returns the provenance of the results, for run.json and for later runs.
Attributes make_provenance(const Options& options, const Setup& setup, const model::Ensemble& ensemble);

}  // namespace millrace::segment
