// Input: the options.
// Output: everything known before the first frame: the video, the network, the encoder, the frame formats in between,
//   and the properties that will be lost.
// Never: writes anything.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "src/io/output/output.h"
#include "src/io/store/dataset.h"
#include "src/io/video/video_muxer.h"
#include "src/jobs/video/compositor.h"
#include "src/jobs/video/encoders.h"
#include "src/jobs/video/frame_inference.h"
#include "src/jobs/video/frames.h"
#include "src/jobs/video/mask_folder.h"

namespace millrace::video {

// Returns the provenance that all videos of a run share: options, and the networks, which may be null.
Attributes make_shared_provenance(const VideoOptions& options, const Network* network, const Network* fast_network);

class Setup {
 public:
  // Throws a Failure for every problem that can be known before the work. `networks` must outlive this object.
  Setup(const VideoOptions& options, Networks& networks, RunContext& context);

  VideoOptions options;  // checked
  video_file::VideoFile film;
  std::vector<std::string> filled_in;  // color properties that were assumed
  std::vector<std::string> notes;      // properties of the input that the output will lack, besides streams
  Encoding encoding;
  Composition composition;
  std::string container;

  // `first` processes each whole frame; `second` is used if the first one's answer does not suffice. Pointers are null
  // if there is no such network.
  Network *network = nullptr, *fast_network = nullptr;
  std::unique_ptr<FrameInference> first, second;
  std::unique_ptr<MaskFolder> mask_folder;
  std::int32_t mask_width = 1, mask_height = 1;  // size before postprocessing
  std::uint16_t threshold = masks::kOne / 2;
  Frames::Parameters cut;

  // Returns the approximate number of frames; 0 if it is unknown.
  std::uint64_t expected_frames() const;
  bool has_masks() const { return first || mask_folder; }
  // Returns the number of frames that are repeated with the next shard.
  std::size_t warmup() const { return cut.warmup; }
  std::unique_ptr<video_file::VideoMuxer> muxer;  // empty if masks are files; can be used once
  void open_muxer(RunContext& context);

  // Frames in flight, and the memory of the run.
  std::size_t tokens = 0;
  std::uint32_t decoder_slots = 0, encoder_slots = 0;
  Bytes frame;                     // one frame in flight
  Bytes beside, decoder, encoder;  // additional frames and buffers; memory of the helper processes

  // Returns the provenance of the video, for run.json.
  Attributes make_provenance() const;
  // Returns the input fingerprint: a hash of the provenance, stored in the video itself. A later run that finds it has
  // no work left.
  std::string digest() const;
  // Returns the description of runtime and CPU for shards; empty if it is the same for the whole video.
  std::string runtime_and_cpu() const;
  // Returns "person.onnx in f32 by OpenVINO 2026.4.1", or with each runtime that shards name; empty without a network.
  std::string describe_network(const std::set<std::string>& runtimes_and_cpus) const;
  // Returns the first attribute of make_provenance().
  static Attributes::value_type mark() { return {kJsonMark, "video run"}; }

 private:
  void set_output(RunContext& context);
  void note_losses();
  void set_masks(Networks& networks, RunContext& context);
  void plan_memory(RunContext& context);
};

}  // namespace millrace::video
