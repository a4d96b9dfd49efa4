// Input: options, and the models that were opened by them.
// Output: what pictures become for them, and what results are made of.
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
  std::size_t pixel = 3;  // bytes of one that windows are cut of; of a gray picture that is no square 1 all the same
  std::vector<model::Form> forms;  // what a window becomes, one after the other
  model::Preprocess preprocess = model::Preprocess::none;
  std::int64_t size = 0;  // of the square, where there is one
  // Once the networks are compiled.
  std::vector<model::Head> heads;
  std::string maker;          // what computes, where a folder may hold results of several; else empty
  bool is_activated = false;  // what comes of windows has been through the activation

  std::uint64_t input_elements() const;
  // Of all maps together.
  std::size_t channels() const;
  // One of the heads is for this.
  bool has(model::Task task) const;
  // A class of the picture, or numbers of it, are asked for: there must be one window.
  bool has_numbers() const { return has(model::Task::classification) || has(model::Task::regression); }
  // Its file's name, for people; with its place where another has the same.
  std::string model_name(std::size_t k) const;
};

// Failure(usage) for options that are missing or do not go together, and what opening a model throws.
Setup set_up(const Options& options, const std::function<bool()>& cancelled);
// Failure(usage) where there is a square.
void refuse_region_of_square(const Setup& setup);
// What is known of the networks now. Failure(usage) where they need another preprocessing.
void complete(const Options& options, Setup& setup, const model::Ensemble& ensemble);

// How networks are asked in a run.
model::Ensemble::Options ensemble_options(const Options& options, const RunContext& context);

// For run.json; empty where a person said which.
std::string precision_policy(const Options& options);

// What results are made of, for run.json and for whoever goes on.
Attributes made_of(const Options& options, const Setup& setup, const model::Ensemble& ensemble);

}  // namespace millrace::segment
