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
#include "src/memory/pool.h"

namespace millrace::video {

using Mask = Buffer<std::uint16_t>;

struct Item {
  FilmFrame frame;
  std::shared_ptr<Look> first, second;
  std::unique_ptr<Looking> closer;  // for this frame only: --region auto
  std::shared_ptr<const Mask> mask;
  bool reused = false, by_fast_model = false;
  film::PictureEncoder::Slot slot;
};

class Masking {
 public:
  Masking(Setup& setup, RunContext& context) : setup_(setup), context_(context) {}

  // The steps for each frame, in this order.
  void prepare(Item& item);  // any thread
  void decide(Item& item);   // in order: decides whether the last mask is reused
  void begin_first(Item& item, std::function<void(std::exception_ptr)> done);
  void look_closer(Item& item);  // any thread: decides whether another network or a closer view is needed
  void begin_second(Item& item, std::function<void(std::exception_ptr)> done);
  void finish(Item& item);  // any thread
  void settle(Item& item);  // in order: assigns reused masks, and averages over time

 private:
  std::shared_ptr<Mask> new_mask(std::int32_t width, std::int32_t height);
  std::shared_ptr<const Mask> enlarged(const Mask& mask, std::int32_t width, std::int32_t height);
  std::shared_ptr<const Mask> smoothed();

  Setup& setup_;
  RunContext& context_;
  Pool<Look> looks_{[] { return std::make_unique<Look>(); }};
  Pool<Mask> masks_{[] { return std::make_unique<Mask>(); }};
  Pool<Views::Workspace> workspaces_{[] { return std::make_unique<Views::Workspace>(); }};

  // State of decide().
  std::shared_ptr<const Look> inferred_;
  std::optional<std::uint64_t> piece_;
  bool was_warm_ = false;
  // State of settle(): the last mask, and the masks of the last frames, the latest first.
  std::shared_ptr<const Mask> last_;
  std::deque<std::shared_ptr<const Mask>> recent_;
  std::optional<std::uint64_t> settled_piece_;
  std::vector<std::uint32_t> sums_;
};

// Returns the item's mask, cleaned, at the size of the video's frames, in the workspace; or the mask itself if no
// cleaning was requested.
const std::uint16_t* cleaned_mask(const Setup& setup, const Item& item, matte::CleaningWorkspace& workspace);

}  // namespace millrace::video
