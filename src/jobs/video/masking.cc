#include "src/jobs/video/masking.h"

#include <algorithm>
#include <cmath>

namespace millrace::video {

std::shared_ptr<Mask> Masking::new_mask(std::int32_t width, std::int32_t height) {
  auto out = masks_.take();
  out->resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  return out;
}

void Masking::prepare(Item& item) {
  if (setup_.mattes) {
    auto mask = new_mask(setup_.mask_width, setup_.mask_height);
    setup_.mattes->read(item.frame.pts, mask->data(), context_);
    item.mask = std::move(mask);
    return;
  }
  item.first = looks_.take();
  setup_.first->prepare(item.frame.picture.pixels.get(), setup_.options.reuse.has_value(), *item.first,
                        *workspaces_.take());
}

void Masking::decide(Item& item) {
  if (!setup_.options.reuse || !item.first) return;
  // The first frames of a shard do not depend on earlier shards, and its first own frame is always given to the
  // network.
  const bool begins = piece_ != item.frame.piece || (was_warm_ && !item.frame.warm);
  piece_ = item.frame.piece;
  was_warm_ = item.frame.warm;
  // The planes are upright, so that they have the sides of the network's input.
  const auto width = static_cast<std::int32_t>(setup_.first->model().width);
  const auto height = static_cast<std::int32_t>(setup_.first->model().height);
  if (!begins && inferred_ &&
      largest_difference(inferred_->seen, item.first->seen, width, height) < *setup_.options.reuse) {
    item.reused = true;
    item.first.reset();
    return;
  }
  inferred_ = item.first;
}

void Masking::begin_first(Item& item, std::function<void(std::exception_ptr)> done) {
  if (!item.first) return done(nullptr);
  setup_.first->submit(*item.first, std::move(done));
}

void Masking::look_closer(Item& item) {
  if (!item.first) return;
  auto workspace = workspaces_.take();
  const Views& views = setup_.first->views();
  auto mask = new_mask(views.mask_width(), views.mask_height());
  setup_.first->mask(*item.first, mask->data(), *workspace);
  if (setup_.second) {
    item.by_fast_model = confidence_of(mask->span()) >= setup_.options.confidence;
    if (!item.by_fast_model) {
      item.second = looks_.take();
      setup_.second->prepare(item.frame.picture.pixels.get(), false, *item.second, *workspace);
    } else {
      item.mask = enlarged(*mask, setup_.mask_width, setup_.mask_height);
    }
  } else if (setup_.options.look_closer) {
    const film::Shape& shape = setup_.composition.film;
    const film::Region region = region_of(mask->data(), views.mask_width(), views.mask_height(), setup_.threshold,
                                          shape, views[0].mask_width(), views[0].mask_height());
    if (region.width > 0) {
      item.closer = std::make_unique<Looking>(*setup_.network, Views(region, shape, setup_.film.rotation,
                                                                     setup_.network->model, shape.width, shape.height));
      item.second = looks_.take();
      item.closer->prepare(item.frame.picture.pixels.get(), false, *item.second, *workspace);
    } else {
      item.mask = enlarged(*mask, setup_.mask_width, setup_.mask_height);
    }
  } else {
    item.mask = std::move(mask);
  }
  item.first.reset();
}

// Returns the mask with the resolution that masks of other frames have.
std::shared_ptr<const Mask> Masking::enlarged(const Mask& mask, std::int32_t width, std::int32_t height) {
  const Views& views = setup_.first->views();
  auto out = new_mask(width, height);
  matte::Enlarger enlarger(views.mask_width(), views.mask_height(), width, height);
  enlarger.begin(mask.data());
  for (std::int32_t y = 0; y < height; ++y)
    enlarger.row(y, out->data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(width));
  return out;
}

void Masking::begin_second(Item& item, std::function<void(std::exception_ptr)> done) {
  if (!item.second) return done(nullptr);
  (item.closer ? *item.closer : *setup_.second).submit(*item.second, std::move(done));
}

void Masking::finish(Item& item) {
  if (!item.second) return;
  auto mask = new_mask(setup_.mask_width, setup_.mask_height);
  (item.closer ? *item.closer : *setup_.second).mask(*item.second, mask->data(), *workspaces_.take());
  item.mask = std::move(mask);
  item.second.reset();
  item.closer.reset();
}

void Masking::settle(Item& item) {
  const bool begins = settled_piece_ != item.frame.piece;
  settled_piece_ = item.frame.piece;
  if (item.reused) item.mask = last_;
  last_ = item.mask;
  if (setup_.options.smooth <= 1) return;
  if (begins) recent_.clear();
  recent_.push_front(item.mask);
  if (recent_.size() > static_cast<std::size_t>(setup_.options.smooth)) recent_.pop_back();
  if (!item.frame.warm) item.mask = smoothed();
}

// Returns the weighted mean of the last masks. Each weighs 0.7 times as much as its successor: an exponential mean with
// factor 0.3, truncated.
std::shared_ptr<const Mask> Masking::smoothed() {
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
matte::Guide luma_of_film(const Setup& setup, const Item& item) {
  const film::Shape& shape = setup.composition.film;
  const film::Layout layout = film::layout_of(shape);
  const std::size_t plane = shape.kind == film::Kind::rgb ? 1 : 0;
  return {item.frame.picture.pixels.get() + layout.offset[plane], layout.stride[plane], shape.depth};
}

}  // namespace

const std::uint16_t* cleaned_mask(const Setup& setup, const Item& item, matte::CleaningWorkspace& workspace) {
  if (!setup.options.cleaning.any()) return item.mask->data();
  const std::int32_t width = setup.film.shape.width, height = setup.film.shape.height;
  matte::Enlarger enlarger(setup.mask_width, setup.mask_height, width, height);
  enlarger.begin(item.mask->data());
  workspace.mask.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  for (std::int32_t y = 0; y < height; ++y)
    enlarger.row(y, workspace.mask.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(width));
  matte::clean(workspace.mask.data(), width, height, setup.threshold, setup.options.cleaning, luma_of_film(setup, item),
               workspace);
  return workspace.mask.data();
}

}  // namespace millrace::video
