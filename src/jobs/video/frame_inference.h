// Input: a frame, and the views of it that a network gets.
// Output: the network's answers to all views, combined into one mask.
// Never: waits for the network.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "src/jobs/video/network.h"
#include "src/jobs/video/views.h"

namespace millrace::video {

// Inputs and outputs of all views, one after the other.
struct InferenceBuffers {
  Buffer<float> input, output;
  Buffer<std::uint8_t> seen;  // inputs as 8-bit samples, if they are kept
};

// Network, with the views of a frame that it gets.
class FrameInference {
 public:
  FrameInference(Network& network, Views views) : network_(network), views_(std::move(views)) {}

  const Views& views() const { return views_; }
  const model::PictureModel& model() const { return network_.model; }
  int requests() const { return network_.requests; }
  Bytes bytes() const {
    return Bytes{views_.count() * ((network_.model.input_elements() + network_.output_elements()) * sizeof(float) +
                                   views_[0].seen_bytes())};
  }

  // Computes the network's inputs from a frame. Can be called on any thread.
  void prepare(const std::uint8_t* picture, bool keep_seen, InferenceBuffers& buffers,
               Views::Workspace& workspace) const;
  // Starts inference; `done` is called once, when all views have been answered.
  void submit(InferenceBuffers& buffers, std::function<void(std::exception_ptr)> done) const;
  void mask(InferenceBuffers& buffers, std::uint16_t* mask, Views::Workspace& workspace) const {
    views_.mask(buffers.output.span(), mask, workspace);
  }

 private:
  Network& network_;
  Views views_;
};

// Returns the largest mean absolute difference in a tile, from 0 to 1. A tile has 16 x 16 pixels in three planes; those
// at the edges may be smaller. Both inputs have these sides, plane after plane, view after view.
double find_largest_difference(const Buffer<std::uint8_t>& a, const Buffer<std::uint8_t>& b, std::int32_t width,
                               std::int32_t height);
// Returns the mean of max(p, 1 - p).
double confidence_of(std::span<const std::uint16_t> mask);

}  // namespace millrace::video
