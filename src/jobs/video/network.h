// Input: the file of a network, and the user's options for it.
// Output: the network, ready for inference, and its memory.
// Never: depends on the video.
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
  Reservation reservation;

  std::size_t output_elements() const { return outputs * static_cast<std::size_t>(model.height * model.width); }
};

// Networks of a run, shared by all its videos; each is loaded when it is first needed.
class Networks {
 public:
  Network& first(const VideoOptions& options, RunContext& context);
  Network& fast(const VideoOptions& options, RunContext& context);

 private:
  std::unique_ptr<Network> first_, fast_;
};

}  // namespace millrace::video
