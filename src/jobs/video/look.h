// Input: a picture, and the views of it that a network has.
// Output: the network's answer to all of them, as one mask.
// Never: waits for the network.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "src/jobs/video/network.h"
#include "src/jobs/video/views.h"

namespace millrace::video {

// Inputs and outputs of all views, one behind the other.
struct Look {
  Buffer<float> input, output;
  Buffer<std::uint8_t> seen;  // the same as 8 bits, where it is kept
};

// A network, and what it sees of pictures.
class Looking {
 public:
  Looking(Network& network, Views views) : network_(network), views_(std::move(views)) {}

  const Views& views() const { return views_; }
  const model::PictureModel& model() const { return network_.model; }
  int requests() const { return network_.requests; }
  Bytes bytes() const {
    return Bytes{views_.count() * ((network_.model.input_elements() + network_.output_elements()) * sizeof(float) +
                                   views_[0].seen_bytes())};
  }

  // What the network is to see. Any thread.
  void prepare(const std::uint8_t* picture, bool keep_seen, Look& look, Views::Workspace& workspace) const;
  // Begins; `done` is called once, when all views have been answered.
  void submit(Look& look, std::function<void(std::exception_ptr)> done) const;
  void mask(Look& look, std::uint16_t* mask, Views::Workspace& workspace) const {
    views_.mask(look.output.span(), mask, workspace);
  }

 private:
  Network& network_;
  Views views_;
};

// The largest mean of absolute differences over a tile of 16 x 16 pixels of three planes each, of 1; those at the sides
// may be smaller. Of two pictures that are as wide, plane behind plane, view behind view.
double largest_difference(const Buffer<std::uint8_t>& a, const Buffer<std::uint8_t>& b, std::int32_t width,
                          std::int32_t height);
// The mean of max(p, 1 - p).
double confidence_of(std::span<const std::uint16_t> mask);

}  // namespace millrace::video
