#include "src/jobs/segment/mask_rows.h"

#include <cmath>

namespace millrace::segment {

MaskRows::MaskRows(const Setup& setup, int width, int height)
    : setup_(setup),
      width_(static_cast<std::size_t>(width)),
      height_(static_cast<std::size_t>(height)),
      heads_(setup.heads.size()) {
  for (std::size_t h = 0; h < heads_.size(); ++h) {
    if (setup.heads[h].task != model::ModelTask::segmentation) continue;
    heads_[h].row.resize(width_);
    heads_[h].classes.resize(setup.heads[h].classes.size());
  }
}

void MaskRows::restore(std::size_t head, const std::vector<ClassResult>& class_counts, std::uint64_t rows) {
  Mask& mask = heads_[head];
  if (class_counts.size() != mask.classes.size())
    throw Failure(ErrorCode::bad_data, "the checkpoint has other classes");
  for (const ClassResult& each : class_counts)
    if (each.pixels > rows * width_ || each.at_edge > each.pixels)
      throw Failure(ErrorCode::bad_data, "the checkpoint has more pixels than its picture");
  mask.classes = class_counts;
  rows_ = rows;
}

void MaskRows::take(std::span<const float> row, std::span<const float> weights) {
  const auto maps = model::maps_of(setup_.heads, row);
  for (std::size_t h = 0; h < heads_.size(); ++h)
    if (!heads_[h].row.empty()) take(heads_[h], setup_.heads[h], maps[h], weights);
  ++rows_;
}

void MaskRows::take(Mask& mask, const model::Head& head, std::span<const float> row,
                    std::span<const float> weights) const {
  const bool has_background = head.has_background();
  window::label(row, weights, head.least(), mask.row);
  const bool outermost = rows_ == 0 || rows_ + 1 == height_;
  for (std::size_t j = 0; j < width_; ++j) {
    if (!(weights[j] > 0) || (has_background && mask.row[j] == 0)) continue;
    ClassResult& found = mask.classes[mask.row[j] - (has_background ? 1U : 0U)];
    ++found.pixels;
    if (outermost || j == 0 || j + 1 == width_) ++found.at_edge;
  }
  for (std::size_t c = 0; c < head.classes.size(); ++c) {
    // Adds in pixel order, in four lanes that do not depend on the machine.
    double sum[4] = {};
    for (std::size_t j = 0; j < width_; ++j) sum[j % 4] += row[c * width_ + j];
    mask.classes[c].mean += (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
}

Outcome<void> MaskRows::finish(PictureResult& result) const {
  const double all = static_cast<double>(width_) * static_cast<double>(height_);
  bool finite = true;
  for (std::size_t h = 0; h < heads_.size(); ++h) {
    HeadResult& head = result.heads[h];
    head.classes = heads_[h].classes;
    for (ClassResult& each : head.classes) finite = finite && std::isfinite(each.mean /= all);
    for (const std::optional<Peak>& each : head.peaks) finite = finite && (!each || std::isfinite(each->value));
    for (const double each : head.numbers) finite = finite && std::isfinite(each);
  }
  if (finite) return {};
  return Error{ErrorCode::bad_data, "the network produced NaN or infinity", "",
               "check range, mean and std in the model card; a network that needs float32 fails in bf16"};
}

}  // namespace millrace::segment
