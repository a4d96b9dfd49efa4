// Input: the frames of a video in their order, while they pass through a pipeline.
// Output: a mask for each frame: computed by a network, reused from an earlier frame, or read from a file; then
//   smoothed over time.
// Never: lets the number of frames in flight change a mask: decisions that depend on an earlier frame are made in
//   order.
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "src/jobs/video/setup.h"
#include "src/memory/object_pool.h"

namespace millrace::video {

using Mask = Buffer<std::uint16_t>;

struct FrameItem {
  ShardFrame frame;
  std::shared_ptr<InferenceBuffers> first, second;
  std::unique_ptr<FrameInference> refinement;  // for this frame only: --region auto
  std::shared_ptr<const Mask> mask;
  bool reused = false, by_fast_model = false;
  video_file::FrameEncoder::Slot slot;
};

class Masking {
 public:
  Masking(Setup& setup, RunContext& context) : setup_(setup), context_(context) {}

  // The steps for each frame, in this order.
  void prepare(FrameItem& item);              // any thread
  void reuse_previous_mask(FrameItem& item);  // in order: decides whether the last mask is reused
  void start_first_inference(FrameItem& item, std::function<void(std::exception_ptr)> done);
  void refine_region(FrameItem& item);  // any thread: decides whether another network or a closer view is needed
  void start_second_inference(FrameItem& item, std::function<void(std::exception_ptr)> done);
  void finish(FrameItem& item);            // any thread
  void smooth_over_time(FrameItem& item);  // in order: assigns reused masks, and averages over time

 private:
  std::shared_ptr<Mask> new_mask(std::int32_t width, std::int32_t height);
  std::shared_ptr<const Mask> enlarge_mask(const Mask& mask, std::int32_t width, std::int32_t height);
  std::shared_ptr<const Mask> average_recent_masks();

  Setup& setup_;
  RunContext& context_;
  ObjectPool<InferenceBuffers> buffers_{[] { return std::make_unique<InferenceBuffers>(); }};
  ObjectPool<Mask> masks_{[] { return std::make_unique<Mask>(); }};
  ObjectPool<Views::Workspace> workspaces_{[] { return std::make_unique<Views::Workspace>(); }};

  // State of reuse_previous_mask().
  std::shared_ptr<const InferenceBuffers> inferred_;
  std::optional<std::uint64_t> shard_;
  bool was_warmup_ = false;
  // State of smooth_over_time(): the last mask, and the masks of the last frames, the latest first.
  std::shared_ptr<const Mask> last_;
  std::deque<std::shared_ptr<const Mask>> recent_;
  std::optional<std::uint64_t> smoothed_shard_;
  std::vector<std::uint32_t> sums_;
};

// Returns the item's mask, postprocessed, at the size of the video's frames, in the workspace; or the mask itself if no
// postprocessing was requested.
const std::uint16_t* postprocess_mask(const Setup& setup, const FrameItem& item,
                                      masks::PostprocessWorkspace& workspace);

}  // namespace millrace::video
