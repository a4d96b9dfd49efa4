// Input: pictures of a film, in their order, on their way through a chain.
// Output: the mask of each: by a network, by one of before that still does, or of a file; steadied over time.
// Never: lets what is under way at once change a mask: what depends on an earlier picture is decided in order.
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
  std::unique_ptr<Looking> closer;  // of this picture alone: --region auto
  std::shared_ptr<const Mask> mask;
  bool reused = false, by_fast_model = false;
  film::PictureEncoder::Slot slot;
};

class Masking {
 public:
  Masking(Setup& setup, RunContext& context) : setup_(setup), context_(context) {}

  // In this order, of each picture.
  void prepare(Item& item);  // any thread
  void decide(Item& item);   // in order: whether the last mask still does
  void begin_first(Item& item, std::function<void(std::exception_ptr)> done);
  void look_closer(Item& item);  // any thread: whether that does, or another network, or another look, is needed
  void begin_second(Item& item, std::function<void(std::exception_ptr)> done);
  void finish(Item& item);  // any thread
  void settle(Item& item);  // in order: what stands for what; the mean over time

 private:
  std::shared_ptr<Mask> new_mask(std::int32_t width, std::int32_t height);
  std::shared_ptr<const Mask> enlarged(const Mask& mask, std::int32_t width, std::int32_t height);
  std::shared_ptr<const Mask> smoothed();

  Setup& setup_;
  RunContext& context_;
  Pool<Look> looks_{[] { return std::make_unique<Look>(); }};
  Pool<Mask> masks_{[] { return std::make_unique<Mask>(); }};
  Pool<Views::Workspace> workspaces_{[] { return std::make_unique<Views::Workspace>(); }};

  // Of decide().
  std::shared_ptr<const Look> inferred_;
  std::optional<std::uint64_t> piece_;
  bool was_warm_ = false;
  // Of settle(): the last mask, and those of the last pictures, the latest first.
  std::shared_ptr<const Mask> last_;
  std::deque<std::shared_ptr<const Mask>> recent_;
  std::optional<std::uint64_t> settled_piece_;
  std::vector<std::uint32_t> sums_;
};

// An item's mask of the film's own size, cleaned, in the workspace; or the mask itself, where nothing is to be cleaned.
const std::uint16_t* cleaned_mask(const Setup& setup, const Item& item, matte::CleaningWorkspace& workspace);

}  // namespace millrace::video
