#include "src/jobs/video/masking.h"

#include <algorithm>
#include <cmath>

namespace millrace::video {

std::shared_ptr<Mask> Masking::new_mask(std::int32_t width, std::int32_t height) {
  auto out = masks_.take();
  out->resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  return out;
}

void Masking::prepare(FrameItem& item) {
  if (setup_.mask_folder) {
    auto mask = new_mask(setup_.mask_width, setup_.mask_height);
    setup_.mask_folder->read(item.frame.pts, mask->data(), context_);
    item.mask = std::move(mask);
    return;
  }
  item.first = buffers_.take();
  setup_.first->prepare(item.frame.picture.pixels.get(), setup_.options.reuse.has_value(), *item.first,
                        *workspaces_.take());
}

void Masking::reuse_previous_mask(FrameItem& item) {
  if (!setup_.options.reuse || !item.first) return;
  // The first frames of a shard do not depend on earlier shards, and its first own frame is always given to the
  // network.
  const bool begins = shard_ != item.frame.shard || (was_warmup_ && !item.frame.warmup);
  shard_ = item.frame.shard;
  was_warmup_ = item.frame.warmup;
  // The planes are upright, so that they have the sides of the network's input.
  const auto width = static_cast<std::int32_t>(setup_.first->model().width);
  const auto height = static_cast<std::int32_t>(setup_.first->model().height);
  if (!begins && inferred_ &&
      find_largest_difference(inferred_->seen, item.first->seen, width, height) < *setup_.options.reuse) {
    item.reused = true;
    item.first.reset();
    return;
  }
  inferred_ = item.first;
}

void Masking::start_first_inference(FrameItem& item, std::function<void(std::exception_ptr)> done) {
  if (!item.first) return done(nullptr);
  setup_.first->submit(*item.first, std::move(done));
}

void Masking::refine_region(FrameItem& item) {
  if (!item.first) return;
  auto workspace = workspaces_.take();
  const Views& views = setup_.first->views();
  auto mask = new_mask(views.mask_width(), views.mask_height());
  setup_.first->mask(*item.first, mask->data(), *workspace);
  if (setup_.second) {
    item.by_fast_model = confidence_of(mask->span()) >= setup_.options.confidence;
    if (!item.by_fast_model) {
      item.second = buffers_.take();
      setup_.second->prepare(item.frame.picture.pixels.get(), false, *item.second, *workspace);
    } else {
      item.mask = enlarge_mask(*mask, setup_.mask_width, setup_.mask_height);
    }
  } else if (setup_.options.refine_region) {
    const video_file::FrameShape& shape = setup_.composition.film;
    const video_file::FrameRegion region =
        find_mask_region(mask->data(), views.mask_width(), views.mask_height(), setup_.threshold, shape,
                         views[0].mask_width(), views[0].mask_height());
    if (region.width > 0) {
      item.refinement = std::make_unique<FrameInference>(
          *setup_.network,
          Views(region, shape, setup_.film.rotation, setup_.network->model, shape.width, shape.height));
      item.second = buffers_.take();
      item.refinement->prepare(item.frame.picture.pixels.get(), false, *item.second, *workspace);
    } else {
      item.mask = enlarge_mask(*mask, setup_.mask_width, setup_.mask_height);
    }
  } else {
    item.mask = std::move(mask);
  }
  item.first.reset();
}

// Returns the mask with the resolution that masks of other frames have.
std::shared_ptr<const Mask> Masking::enlarge_mask(const Mask& mask, std::int32_t width, std::int32_t height) {
  const Views& views = setup_.first->views();
  auto out = new_mask(width, height);
  masks::Enlarger enlarger(views.mask_width(), views.mask_height(), width, height);
  enlarger.begin(mask.data());
  for (std::int32_t y = 0; y < height; ++y)
    enlarger.row(y, out->data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(width));
  return out;
}

void Masking::start_second_inference(FrameItem& item, std::function<void(std::exception_ptr)> done) {
  if (!item.second) return done(nullptr);
  (item.refinement ? *item.refinement : *setup_.second).submit(*item.second, std::move(done));
}

void Masking::finish(FrameItem& item) {
  if (!item.second) return;
  auto mask = new_mask(setup_.mask_width, setup_.mask_height);
  (item.refinement ? *item.refinement : *setup_.second).mask(*item.second, mask->data(), *workspaces_.take());
  item.mask = std::move(mask);
  item.second.reset();
  item.refinement.reset();
}

void Masking::smooth_over_time(FrameItem& item) {
  const bool begins = smoothed_shard_ != item.frame.shard;
  smoothed_shard_ = item.frame.shard;
  if (item.reused) item.mask = last_;
  last_ = item.mask;
  if (setup_.options.smooth <= 1) return;
  if (begins) recent_.clear();
  recent_.push_front(item.mask);
  if (recent_.size() > static_cast<std::size_t>(setup_.options.smooth)) recent_.pop_back();
  if (!item.frame.warmup) item.mask = average_recent_masks();
}

// Returns the weighted mean of the last masks. Each weighs 0.7 times as much as its successor: an exponential mean with
// factor 0.3, truncated.
std::shared_ptr<const Mask> Masking::average_recent_masks() {
  constexpr double kFades = 0.7;
  std::vector<std::uint32_t> weights;
  std::uint32_t all = 0;
  for (std::size_t k = 0; k < recent_.size(); ++k) {
    weights.push_back(static_cast<std::uint32_t>(std::lround(4096 * std::pow(kFades, static_cast<double>(k)))));
    all += weights.back();
  }
  const std::size_t pixels = recent_.front()->size();
  auto out = masks_.take();
  out->resize(pixels);
  auto& sums = sums_;
  sums.assign(pixels, all / 2);
  for (std::size_t k = 0; k < recent_.size(); ++k) {
    const std::uint16_t* mask = recent_[k]->data();
    for (std::size_t i = 0; i < pixels; ++i) sums[i] += weights[k] * mask[i];
  }
  for (std::size_t i = 0; i < pixels; ++i) (*out)[i] = static_cast<std::uint16_t>(sums[i] / all);
  return out;
}

namespace {

// Returns the luma plane of the frame; for RGB, green.
masks::GuideImage luma_of_frame(const Setup& setup, const FrameItem& item) {
  const video_file::FrameShape& shape = setup.composition.film;
  const video_file::FrameLayout layout = video_file::layout_of(shape);
  const std::size_t plane = shape.kind == video_file::ColorModel::rgb ? 1 : 0;
  return {item.frame.picture.pixels.get() + layout.offset[plane], layout.stride[plane], shape.depth};
}

}  // namespace

const std::uint16_t* postprocess_mask(const Setup& setup, const FrameItem& item,
                                      masks::PostprocessWorkspace& workspace) {
  if (!setup.options.postprocess.any()) return item.mask->data();
  const std::int32_t width = setup.film.shape.width, height = setup.film.shape.height;
  masks::Enlarger enlarger(setup.mask_width, setup.mask_height, width, height);
  enlarger.begin(item.mask->data());
  workspace.mask.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  for (std::int32_t y = 0; y < height; ++y)
    enlarger.row(y, workspace.mask.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(width));
  masks::postprocess(workspace.mask.data(), width, height, setup.threshold, setup.options.postprocess,
                     luma_of_frame(setup, item), workspace);
  return workspace.mask.data();
}

}  // namespace millrace::video
