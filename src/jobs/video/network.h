// Input: a network's file and what a person says of it.
// Output: the network, ready to be asked, and what it takes.
// Never: knows what a film is.
#pragma once

#include <memory>

#include "src/jobs/video/options.h"
#include "src/model/picture_model.h"
#include "src/pipeline/run_context.h"

namespace millrace::video {

struct Network {
  Network(const model::PictureModelOptions& options, RunContext& context);

  model::PictureModel model;
  int requests;
  model::Session session;
  std::size_t outputs;  // channels of its output
  Bytes memory;
  Reservation paid;

  std::size_t output_elements() const { return outputs * static_cast<std::size_t>(model.height * model.width); }
};

// Those that a run asks, of whatever film: loaded when the first one needs them.
class Networks {
 public:
  Network& first(const Options& options, RunContext& context);
  Network& fast(const Options& options, RunContext& context);

 private:
  std::unique_ptr<Network> first_, fast_;
};

}  // namespace millrace::video
